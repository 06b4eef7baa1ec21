// All that can be known without running the product: each line names what it guards.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { run } from "./run.mjs";

const root = resolve(import.meta.dirname, "..");
const bin = (name) => resolve(root, "node_modules/.bin", name);
const packages = readdirSync(resolve(root, "packages"));

const checks = [
  ["format and lint", bin("biome"), ["ci", "--error-on-warnings", "."]],
  ["types", bin("tsc"), ["-p", "."]],
  ["types of the dashboard", bin("tsc"), ["-p", "packages/dashboard"]],
  ["size of the first page", "node", ["scripts/first-page.mjs"]],
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
  ["requirement map", process.execPath, ["scripts/requirements.mjs"]],
  ...packages.map((name) => [
    `package ${name}`,
    bin("publint"),
    ["--strict", "--pack", "npm", `packages/${name}`],
  ]),
];

let failed = 0;
const waiting = checks.values();
// What each finds wrong is printed when it has ended: two do not speak at once.
await Promise.all([checkAll(), checkAll()]);
process.exitCode = failed === 0 ? 0 : 1;

async function checkAll() {
  for (const [title, program, args] of waiting) {
    const began = Date.now();
    const ok = await run(program, args, { cwd: root }).then(
      () => true,
      () => false,
    );
    failed += ok ? 0 : 1;
    const seconds = ((Date.now() - began) / 1000).toFixed(1);
    process.stdout.write(`${ok ? "✓" : "✗"} ${title} (${seconds} s)\n`);
  }
}
