// What is published, as files: `node scripts/pack.mjs [folder]` packs every public package of the
// built checkout, with the ranges of the workspace written out. The SBOM and the checksums go beside.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pnpm } from "./pnpm.mjs";
import { run } from "./run.mjs";
import { billOfMaterials } from "./sbom.mjs";

const root = resolve(import.meta.dirname, "..");
const folder = resolve(process.argv[2] ?? join(root, "release"));
const [program, ...args] = pnpm;

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const isPrivate = "!@herdctl/dashboard";
await run(
  program,
  [...args, "-r", "--filter", "./packages/*", "--filter", isPrivate].concat([
    "pack",
    "--pack-destination",
    folder,
  ]),
  { cwd: root },
);
writeFileSync(
  join(folder, "sbom.cdx.json"),
  `${JSON.stringify(await billOfMaterials(), null, 2)}\n`,
);
const files = readdirSync(folder).sort();
writeFileSync(join(folder, "SHA256SUMS"), files.map(sumLine).join(""));
for (const file of files) process.stdout.write(`${file}\n`);

function sumLine(file) {
  const sum = createHash("sha256")
    .update(readFileSync(join(folder, file)))
    .digest("hex");
  return `${sum}  ${file}\n`;
}
