// Static checks: each entry has a title and a command.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { run } from "./run-program.mjs";

const root = resolve(import.meta.dirname, "..");
const bin = (name) => resolve(root, "node_modules/.bin", name);
const packages = readdirSync(resolve(root, "packages"));

const checks = [
  ["format and lint", bin("biome"), ["ci", "--error-on-warnings", "."]],
  ["types", bin("tsc"), ["-p", "."]],
  ["types of the dashboard", bin("tsc"), ["-p", "packages/dashboard"]],
  ["size of the first page", "node", ["scripts/check-first-page-size.mjs"]],
  [
    "import layers",
    bin("depcruise"),
    [
      "--config",
      ".dependency-cruiser.mjs",
      "--output-type",
      "err",
      "packages",
      "test",
      "bench",
      "scripts",
    ],
  ],
  ["unused code and exports", bin("knip"), []],
  ["requirement map", process.execPath, ["scripts/check-requirements.mjs"]],
  ["public API", process.execPath, ["scripts/public-api.mjs", "--check"]],
  ["plain language", process.execPath, ["scripts/check-prose.mjs"]],
  ...packages.map((name) => [
    `package ${name}`,
    bin("publint"),
    ["--strict", "--pack", "npm", `packages/${name}`],
  ]),
];

let failedCount = 0;
const pendingChecks = checks.values();
// Two checks run concurrently. The output of a failed check is printed when it has ended.
await Promise.all([checkAll(), checkAll()]);
process.exitCode = failedCount === 0 ? 0 : 1;

async function checkAll() {
  for (const [title, program, args] of pendingChecks) {
    const startedAt = Date.now();
    const ok = await run(program, args, { cwd: root }).then(
      () => true,
      () => false,
    );
    failedCount += ok ? 0 : 1;
    const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`${ok ? "✓" : "✗"} ${title} (${seconds} s)\n`);
  }
}
