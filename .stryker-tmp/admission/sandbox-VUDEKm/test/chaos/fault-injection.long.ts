import { expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { listFaultCases } from "./fault-cases.ts";
import { recordSection } from "./results-report.ts";
import { renderTable } from "./results-table.ts";
import type { FaultCase } from "./run-fault-case.ts";
import { caseName, type FinishedCase, runCases, violationTexts } from "./run-fault-cases.ts";
import { SeededRandom } from "./seeded-random.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.HERDCTL_FAULTS_SECONDS ?? 3 * 3600);
const onlyPattern = new RegExp(process.env.HERDCTL_FAULTS_ONLY ?? "");
/** Cases whose name matches run first. */
const firstPattern = new RegExp(process.env.HERDCTL_FAULTS_FIRST ?? "$^");
/** The section of the report; a subset of the cases is recorded only under a separate name. */
const section =
  process.env.HERDCTL_FAULTS_SECTION ?? (process.env.HERDCTL_FAULTS_ONLY ? undefined : "loop");
const caseRank = (one: FaultCase) => (firstPattern.test(caseName(one)) ? 0 : one.faults.length);

const engine = await sharedEngine();
await sharedPostgresAddress();

test("ends every trigger exactly once and leaves nothing behind, whatever fails at any failpoint", {
  retry: 0,
  timeout: seconds * 1000 + 600_000,
}, async () => {
  const planned = listFaultCases();
  // A short run covers every single point in every place first.
  const cases = new SeededRandom(seed)
    .shuffled(planned)
    .sort((a, b) => caseRank(a) - caseRank(b))
    .filter((one) => onlyPattern.test(caseName(one)));
  printLine(`seed ${seed}: ${cases.length} cases`);
  const began = Date.now();
  const ends = await runCases(cases, {
    engine,
    maxStartMs: seconds * 1000,
    onFinished: (end, index) => {
      const wrong = violationTexts([end]).map((text) => `\n    WRONG ${text}`);
      printLine(`${index} ${caseName(end)} · ${end.seconds} s · ${end.outcome}${wrong.join("")}`);
    },
  });
  const complaints = violationTexts(ends);
  const table = [...renderTable(ends), ...rerunNotes(ends)];
  printLine(table.join("\n"));
  if (section)
    recordSection(section, {
      seed,
      seconds: Math.round((Date.now() - began) / 1000),
      plannedCount: section === "loop" ? planned.length : cases.length,
      runCount: ends.length,
      complaints,
      table,
    });
  expect(complaints).toEqual([]);
});

/** The lines below the table that list the cases that were run twice. */
function rerunNotes(ends: readonly FinishedCase[]): string[] {
  const again = ends.filter((end) => end.again);
  if (again.length === 0) return [];
  const why = "Run a second time, by themselves, as a fault had not come the first time:";
  return ["", why, "", ...again.map((end) => `- ${caseName(end)}`)];
}

function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}
