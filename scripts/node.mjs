// `node scripts/node.mjs 22.23.3` prints the folder that holds a `node` of this version, which is
// fetched once and kept: the registry has Node as a package for each kind of machine.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { cachePath, fillCache, isCached } from "./engine/cache.mjs";
import { run } from "./run.mjs";

const name = `node-${process.platform}-${process.arch}@${process.argv[2]}`;
const kept = cachePath("node", [name]);
if (!isCached(kept)) await fillCache(kept, fetchInto);
process.stdout.write(`${join(kept, "package/bin")}\n`);

async function fetchInto(draft) {
  const temp = mkdtempSync(join(tmpdir(), "herdctl-node-"));
  try {
    await run("npm", ["pack", name, "--pack-destination", temp], { cwd: temp });
    mkdirSync(draft);
    const [archive] = readdirSync(temp).filter((file) => file.endsWith(".tgz"));
    await run("tar", ["-xzf", join(temp, archive), "-C", draft]);
  } finally {
    rmSync(temp, { recursive: true });
  }
}
