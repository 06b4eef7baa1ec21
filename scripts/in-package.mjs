// `npm run build`, `typecheck` and `test` of a package. All packages are checked as one program, so
// `typecheck` covers the packages that use this one; `test` runs the folders of `test` that show it.
import { spawn } from "node:child_process";
import { basename, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const name = basename(process.cwd());
const [task, ...more] = process.argv.slice(2);

const testFolders = {
  protocol: ["lib", "server"],
  config: ["config"],
  core: ["runner", "runtimes", "standalone", "seed-api", "jobs", "store"],
  server: ["server", "webhooks", "mcp"],
  dashboard: ["dashboard"],
  discord: ["chat"],
  slack: ["chat"],
  rehearsal: ["rehearsal"],
  cli: ["cli"],
};

const tasks = {
  build:
    name === "dashboard"
      ? [join(root, "packages/dashboard/node_modules/vite/bin/vite.js"), "build"]
      : [join(root, "node_modules/tsdown/dist/run.mjs")],
  typecheck: inCheckout("tsc", "-p", name === "dashboard" ? "packages/dashboard" : "."),
  test: inCheckout(
    "vitest",
    "run",
    ...(testFolders[name] ?? []).map((folder) => `test/${folder}/`),
  ),
};

const cwd = task === "build" ? process.cwd() : root;
spawn(process.execPath, [...tasks[task], ...more], { cwd, stdio: "inherit" }).on("exit", (code) => {
  process.exitCode = code ?? 1;
});

function inCheckout(...command) {
  return [join(root, "scripts/in-checkout.mjs"), ...command];
}
