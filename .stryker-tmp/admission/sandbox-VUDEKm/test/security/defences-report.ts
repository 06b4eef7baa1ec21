import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { defences } from "./defences.ts";

const checkout = resolve(import.meta.dirname, "../..");
export const pagePath = resolve(checkout, "docs/proof/defences.md");

interface RemovalEvidence {
  /** The message of the failed test. */
  failureMessage: string;
  seenAt: string;
}

/** Records that the test failed without this defence, just now. The other rows of the page do not change. */
export function recordRemoval(name: string, reason: string, at: string): void {
  const now = {
    failureMessage: shortenReason(reason),
    seenAt: `${new Date().toISOString().slice(0, 10)}, ${at}`,
  };
  mkdirSync(dirname(pagePath), { recursive: true });
  writeFileSync(pagePath, renderPage(new Map([...readRecordedRemovals(), [name, now]])));
}

/** The recorded test failures by name of the defence, read from the page. */
export function readRecordedRemovals(): Map<string, RemovalEvidence> {
  const page = existsSync(pagePath) ? readFileSync(pagePath, "utf8") : "";
  const rows = page.matchAll(/^\| (.+?) \| .* \| (?:`(.+)`)? ?\| (\d{4}-\d\d-\d\d, \S+) \|$/gm);
  return new Map(
    [...rows].map(([, name = "", how = "", when = ""]) => [
      name,
      { failureMessage: how, seenAt: when },
    ]),
  );
}

export function renderPage(seen: ReadonlyMap<string, RemovalEvidence>): string {
  const all = Object.values(defences).flat();
  const count = all.filter(({ name }) => seen.has(name)).length;
  const areas = Object.entries(defences).flatMap(([area, own]) => [
    `## ${area}`,
    "",
    "| defence | protects | test that fails without it | failure message | last seen |",
    "|---|---|---|---|---|",
    ...own.map(({ name, protects, failingTest }) => {
      const test = `[${failingTest.file}](../../${failingTest.file}): “${failingTest.test}”`;
      const evidence = seen.get(name);
      const how = evidence?.failureMessage ? `\`${evidence.failureMessage}\`` : "";
      return `| ${name} | ${protects} | ${test} | ${how} | ${evidence?.seenAt ?? "not yet"} |`;
    }),
    "",
  ]);
  return `# Defences, tested by removal

Find out which test fails when a defence is removed from the source. \`npm run test:removal\` writes this page.

A comment \`defence: <id>\` marks each defence in the source, and [test/security/defences.ts](../../test/security/defences.ts) has an edit that removes it. The removal test applies the edit in a copy of the checkout and expects the named test to fail; then it restores the defence and expects the test to pass. Only a failed assertion counts, not a timeout or a program that the edit has broken. The table shows the failure message, and the date and commit of the last removal.

For ${count} of ${all.length} defences a test has failed after the removal.

${areas.join("\n").trimEnd()}
`;
}

const maxReasonLength = 140;

/** Fits the message into a cell and removes parts that differ with each run. */
function shortenReason(reason: string): string {
  const plain = reason
    .replaceAll(/\/tmp\/[^\s'",)]+/g, "/tmp/…")
    .replaceAll(/job-\d{4}-\d\d-\d\d-\w+/g, "job-…")
    .replaceAll(/[\s`|\p{Cc}]+/gu, " ")
    .trim();
  return plain.length > maxReasonLength ? `${plain.slice(0, maxReasonLength - 1)}…` : plain;
}

export function currentCommit(): string {
  const args = ["describe", "--always", "--dirty", "--exclude=*"];
  return execFileSync("git", args, { cwd: checkout, encoding: "utf8" }).trim();
}
