import { expect, test } from "vitest";
import { Random } from "../storm/random.ts";
import { testEngine } from "../support/engine.ts";
import { testServer } from "../support/postgres.ts";
import { everyCase } from "./cases.ts";
import { recordSection } from "./proof.ts";
import { tableOf } from "./proof-table.ts";
import type { FaultCase } from "./run-case.ts";
import { type CaseEnd, complaintsOf, nameOf, runCases } from "./run-cases.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? Date.now() % 1_000_000);
const seconds = Number(process.env.HERDCTL_FAULTS_SECONDS ?? 3 * 3600);
const only = new RegExp(process.env.HERDCTL_FAULTS_ONLY ?? "");
/** What is tried before all else. */
const first = new RegExp(process.env.HERDCTL_FAULTS_FIRST ?? "$^");
/** Where it is written down: a part of the cases only under a name of its own. */
const section =
  process.env.HERDCTL_FAULTS_SECTION ?? (process.env.HERDCTL_FAULTS_ONLY ? undefined : "loop");
const rank = (one: FaultCase) => (first.test(nameOf(one)) ? 0 : one.faults.length);

const engine = await testEngine();
await testServer();

test("whatever fails at whichever point: every trigger ends once, and nothing is left", {
  retry: 0,
  timeout: seconds * 1000 + 600_000,
}, async () => {
  const planned = everyCase();
  // Where time is short, first of all every point in every place is tried once.
  const cases = new Random(seed)
    .shuffled(planned)
    .sort((a, b) => rank(a) - rank(b))
    .filter((one) => only.test(nameOf(one)));
  say(`seed ${seed}: ${cases.length} cases`);
  const began = Date.now();
  const ends = await runCases(cases, {
    engine,
    longest: seconds * 1000,
    told: (end, index) => {
      const wrong = complaintsOf([end]).map((text) => `\n    WRONG ${text}`);
      say(`${index} ${nameOf(end)} · ${end.seconds} s · ${end.outcome}${wrong.join("")}`);
    },
  });
  const complaints = complaintsOf(ends);
  const table = [...tableOf(ends), ...runAgain(ends)];
  say(table.join("\n"));
  if (section)
    recordSection(section, {
      seed,
      took: Math.round((Date.now() - began) / 1000),
      planned: section === "loop" ? planned.length : cases.length,
      run: ends.length,
      complaints,
      table,
    });
  expect(complaints).toEqual([]);
});

/** What stands under the table of those that needed a second run. */
function runAgain(ends: readonly CaseEnd[]): string[] {
  const again = ends.filter((end) => end.again);
  if (again.length === 0) return [];
  const why = "Run a second time, by themselves, as a fault had not come the first time:";
  return ["", why, "", ...again.map((end) => `- ${nameOf(end)}`)];
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
