// `npm run test:mutation [GROUP…]`: changes the source in one place at a time and expects a test to
// fail. Updates docs/proof/mutation.json and its page.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import {
  acceptedSurvivors,
  minScore,
  mutationGroups,
  mutationPages,
  mutationRecord,
  mutationRecordFile,
  summarizeGroup,
} from "./mutation-report.mjs";
import { writePages } from "./write-pages.mjs";

const root = resolve(import.meta.dirname, "..");
const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in mutationGroups));
if (unknown.length > 0) {
  const known = Object.keys(mutationGroups).join(", ");
  process.stderr.write(`Unknown group: ${unknown.join(", ")}. Groups: ${known}.\n`);
  process.exit(2);
}
// Read first, because writing the page changes the checkout.
const commit = git("describe", "--always", "--exclude=*", "--dirty");
const date = git("show", "--no-patch", "--format=%cs");
const folder = mkdtempSync(join(tmpdir(), "herdctl-mutation-"));
try {
  for (const name of names.length > 0 ? names : Object.keys(mutationGroups)) measure(name);
} finally {
  rmSync(folder, { recursive: true });
}

function measure(name) {
  const { mutate, tests } = mutationGroups[name];
  const [configFile, reportFile] = [join(folder, `${name}.json`), join(folder, "report.json")];
  writeFileSync(configFile, JSON.stringify(strykerConfig(mutate, reportFile)));
  const { status } = spawnSync("stryker", ["run", configFile], {
    cwd: root,
    env: { ...process.env, HERDCTL_MUTATION_TESTS: tests.join(",") },
    stdio: "inherit",
  });
  if (status !== 0) throw new Error(`Mutation testing of \`${name}\` failed with code ${status}.`);
  const report = JSON.parse(readFileSync(reportFile, "utf8"));
  const result = { commit, date, ...summarizeGroup(report, acceptedSurvivors) };
  const groups = { ...mutationRecord().groups, [name]: result };
  const ordered = Object.keys(mutationGroups).flatMap((key) =>
    groups[key] ? [[key, groups[key]]] : [],
  );
  const record = { groups: Object.fromEntries(ordered) };
  writeFileSync(mutationRecordFile, `${JSON.stringify(record, null, 2)}\n`);
  writePages(mutationPages(record));
  const unexplained = result.survivors.filter(({ reason }) => reason === undefined);
  process.stdout.write(
    `${name}: ${result.score} % of ${result.mutants} mutants killed, ${unexplained.length} of ${result.survivors.length} survivors without an explanation\n`,
  );
  for (const { file, line, mutator, original, replacement } of unexplained)
    process.stdout.write(`  ${file}:${line} ${mutator}: ${original} → ${replacement}\n`);
  if (result.score < minScore || unexplained.length > 0) process.exitCode = 1;
}

function strykerConfig(mutate, reportFile) {
  return {
    mutate,
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "vitest.mutation.config.ts", related: false },
    coverageAnalysis: "perTest",
    concurrency: 1,
    // Generous, because a mutant that is only slow on a busy machine must not count as killed.
    timeoutMS: 20_000,
    // Type errors do not stop the tests.
    disableTypeChecks: false,
    reporters: ["json", "progress-append-only"],
    jsonReporter: { fileName: reportFile },
    tempDirName: ".stryker-tmp",
    // Folders that the tests of the groups do not read; copying them takes time.
    ignorePatterns: [
      ...["/.node", "/bench", "/docs", "/examples", "/image", "/plugin", "/release", "/site"],
      ...["/packages/*/dist", "/packages/dashboard", "/packages/server/dashboard"],
    ],
  };
}

function git(...args) {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();
}
