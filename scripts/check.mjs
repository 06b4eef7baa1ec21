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
for (const [title, program, args] of checks) {
  const began = Date.now();
  const ok = await run(program, args, { cwd: root }).then(
    () => true,
    () => false,
  );
  failed += ok ? 0 : 1;
  process.stdout.write(
    `${ok ? "✓" : "✗"} ${title} (${((Date.now() - began) / 1000).toFixed(1)} s)\n`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
