// Builds every package, and the dashboard into the server. Copies into the CLI's dist folder: the
// examples for `herdctl init`, the Claude Code plugin, and the licences of bundled packages.
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "./run-program.mjs";

const root = resolve(import.meta.dirname, "..");
const packages = readdirSync(join(root, "packages")).filter((name) => name !== "dashboard");
const tsdown = join(root, "node_modules/tsdown/dist/run.mjs");
const dashboard = join(root, "packages/dashboard");
const vite = join(dashboard, "node_modules/vite/bin/vite.js");

await Promise.all([
  ...packages.map((name) => run("node", [tsdown], { cwd: join(root, "packages", name) })),
  run("node", [vite, "build", "--logLevel", "warn"], { cwd: dashboard }),
]);

const cli = join(root, "packages/cli");
const examples = join(cli, "dist/examples");
rmSync(examples, { recursive: true, force: true });
for (const name of readdirSync(join(root, "examples"))) {
  if (name !== "rehearsal")
    cpSync(join(root, "examples", name), join(examples, name), { recursive: true });
}
rmSync(join(cli, "dist/plugin"), { recursive: true, force: true });
cpSync(join(root, "plugin"), join(cli, "dist/plugin"), { recursive: true });
const { devDependencies: bundled } = JSON.parse(readFileSync(join(cli, "package.json"), "utf8"));
for (const name of Object.keys(bundled)) {
  cpSync(join(cli, "node_modules", name, "LICENSE"), join(cli, "dist/licenses", name));
}
