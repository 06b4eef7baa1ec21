// README's second command: every check, then the usual round of tests; `--wide` takes all of them.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const isWide = process.argv.includes("--wide");
const only = process.argv.slice(2).filter((one) => one !== "--wide");

if (only.length === 0) must("node", ["scripts/check.mjs"]);

const results = mkdtempSync(join(tmpdir(), "herdctl-results-"));
const report = join(results, "report.json");
const isCounted = only.length === 0 && isWide;
// What runs in programs of their own is counted where it was written.
if (isCounted) must("node", ["scripts/build-counted.mjs"]);
const coverage = isCounted ? ["--coverage"] : [];
const tested = run("node", [
  "node_modules/vitest/vitest.mjs",
  "run",
  ...coverage,
  "--reporter=default",
  "--reporter=./scripts/second-tries.mjs",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...only,
]);
const counts = JSON.parse(readFileSync(report, "utf8"));
rmSync(results, { recursive: true });
process.stdout.write(
  `\n${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${counts.numPendingTests} skipped\n`,
);
if (!isWide && only.length === 0) {
  const wideOnly = JSON.parse(readFileSync(join(root, "test/wide-only.json"), "utf8"));
  process.stdout.write(`left to \`npm run test:wide\`: ${wideOnly.join(", ")}\n`);
}
process.exitCode = tested;

function must(program, args) {
  const status = run(program, args);
  if (status !== 0) process.exit(status);
}

function run(program, args) {
  const env = isWide ? { ...process.env, HERDCTL_TEST_WIDE: "1" } : process.env;
  return spawnSync(program, args, { cwd: root, env, stdio: "inherit" }).status ?? 1;
}
