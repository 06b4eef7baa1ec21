import { expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import { sharedPostgresAddress } from "../support/postgres.ts";
import { sampleCount } from "../support/test-subset.ts";
import { listFaultCases, lostNodeCase, regressionCases } from "./fault-cases.ts";
import type { FaultCase } from "./run-fault-case.ts";
import { runCases, violationTexts } from "./run-fault-cases.ts";
import { SeededRandom } from "./seeded-random.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? 8);
const engine = await sharedEngine();
await sharedPostgresAddress();

test(`ends every trigger exactly once after a fault (seed ${seed})`, async () => {
  const others = spread(new SeededRandom(seed).shuffled(listFaultCases()), sampleCount(20, 1 / 8));
  const cases = [...regressionCases, lostNodeCase, ...others];
  const ends = await runCases(cases, { engine, maxStartMs: 600_000 });
  expect(violationTexts(ends)).toEqual([]);
  expect(ends).toHaveLength(cases.length);
}, 1_200_000);

/** Picks `count` cases that alternate between kinds of triggers and places. */
function spread(all: readonly FaultCase[], count: number): FaultCase[] {
  const seen = new Map<string, number>();
  const turns = all.map((one) => {
    const pair = `${one.trigger} ${one.place}`;
    const turn = seen.get(pair) ?? 0;
    seen.set(pair, turn + 1);
    return { one, turn };
  });
  return turns
    .sort((a, b) => a.turn - b.turn)
    .slice(0, count)
    .map(({ one }) => one);
}
