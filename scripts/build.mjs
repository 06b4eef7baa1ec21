// Builds every package, and puts the examples beside the CLI so that `herdctl init` has them.
import { cpSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "./run.mjs";

const root = resolve(import.meta.dirname, "..");
const packages = readdirSync(join(root, "packages"));
const tsdown = join(root, "node_modules/tsdown/dist/run.mjs");

await Promise.all(
  packages.map((name) => run("node", [tsdown], { cwd: join(root, "packages", name) })),
);

const examples = join(root, "packages/cli/dist/examples");
rmSync(examples, { recursive: true, force: true });
for (const name of readdirSync(join(root, "examples"))) {
  if (name !== "rehearsal")
    cpSync(join(root, "examples", name), join(examples, name), { recursive: true });
}
