// Builds with source maps for the coverage provider in test/code-coverage. The maps are moved to
// another folder, so that the built packages are the same as the published ones.
import { mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { run } from "./run-program.mjs";

const root = resolve(import.meta.dirname, "..");
const packages = join(root, "packages");
const mapsFolder = join(root, "node_modules/.herdctl-maps");

const env = { ...process.env, HERDCTL_SOURCE_MAPS: "1" };
await run("node", ["scripts/build.mjs"], { cwd: root, env });
rmSync(mapsFolder, { recursive: true, force: true });
for (const packageName of ["protocol", "config", "core"]) {
  const built = join(packages, packageName, "dist");
  for (const name of readdirSync(built, { recursive: true })) {
    if (!name.endsWith(".map")) continue;
    const mapFile = join(mapsFolder, packageName, "dist", name);
    mkdirSync(dirname(mapFile), { recursive: true });
    renameSync(join(built, name), mapFile);
  }
}
