// Builds as always, and notes beside it from where in the source everything comes, for
// test/counting. The notes lie apart, so that what was built is what would be published.
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { run } from "./run.mjs";

const root = resolve(import.meta.dirname, "..");
const built = join(root, "packages/core/dist");
const maps = join(root, "node_modules/.herdctl-maps");

const env = { ...process.env, HERDCTL_SOURCE_MAPS: "1" };
await run("node", ["scripts/build.mjs"], { cwd: root, env });
rmSync(maps, { recursive: true, force: true });
for (const name of readdirSync(built, { recursive: true })) {
  if (!name.endsWith(".map")) continue;
  mkdirSync(dirname(join(maps, name)), { recursive: true });
  renameSync(join(built, name), join(maps, name));
}
