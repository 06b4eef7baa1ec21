// `npm test`: runs every check, then the default tests. `--wide` runs all tests.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const isWide = process.argv.includes("--wide");
const testFiles = process.argv.slice(2).filter((one) => one !== "--wide");

if (testFiles.length === 0) runOrExit("node", ["scripts/check.mjs"]);

const results = mkdtempSync(join(tmpdir(), "herdctl-results-"));
const report = join(results, "report.json");
const withCoverage = testFiles.length === 0;
const coverage = withCoverage ? ["--coverage"] : [];
const tested = run("node", [
  "node_modules/vitest/vitest.mjs",
  "run",
  ...coverage,
  "--reporter=default",
  "--reporter=./scripts/retried-tests-reporter.mjs",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...testFiles,
]);
const counts = JSON.parse(readFileSync(report, "utf8"));
rmSync(results, { recursive: true });
process.stdout.write(
  `\n${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${counts.numPendingTests} skipped\n`,
);
if (!isWide && testFiles.length === 0) {
  const wideOnly = JSON.parse(readFileSync(join(root, "test/wide-only-tests.json"), "utf8"));
  process.stdout.write(`only in \`npm run test:wide\`: ${wideOnly.join(", ")}\n`);
}
process.exitCode = tested;

function runOrExit(program, args) {
  const status = run(program, args);
  if (status !== 0) process.exit(status);
}

function run(program, args) {
  const env = isWide ? { ...process.env, HERDCTL_TEST_WIDE: "1" } : process.env;
  return spawnSync(program, args, { cwd: root, env, stdio: "inherit" }).status ?? 1;
}
