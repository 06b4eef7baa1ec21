// `node scripts/release.mjs [folder]` packs the built checkout for publication, with a software bill
// of materials and checksums. `--only-packages` omits those two.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pack } from "./pack.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = resolve(import.meta.dirname, "..");
const [folderArgument] = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const folder = resolve(folderArgument ?? join(root, "release"));

rmSync(folder, { recursive: true, force: true });
await pack(folder);
if (!process.argv.includes("--only-packages")) {
  const bill = JSON.stringify(await billOfMaterials(), null, 2);
  writeFileSync(join(folder, "sbom.cdx.json"), `${bill}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), readdirSync(folder).sort().map(sumLine).join(""));
}
for (const file of readdirSync(folder)) process.stdout.write(`${file}\n`);

function sumLine(file) {
  const content = readFileSync(join(folder, file));
  return `${createHash("sha256").update(content).digest("hex")}  ${file}\n`;
}
