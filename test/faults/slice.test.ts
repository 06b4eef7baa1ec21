import { expect, test } from "vitest";
import { Random } from "../storm/random.ts";
import { testEngine } from "../support/engine.ts";
import { testServer } from "../support/postgres.ts";
import { samples } from "../support/width.ts";
import { everyCase, onceFound, onLostNode } from "./cases.ts";
import type { FaultCase } from "./run-case.ts";
import { complaintsOf, runCases } from "./run-cases.ts";

const seed = Number(process.env.HERDCTL_LONG_SEED ?? 8);
const engine = await testEngine();
await testServer();

test(`fails at a point (seed ${seed}): every trigger ends once, and nothing is left`, async () => {
  const others = spread(new Random(seed).shuffled(everyCase()), samples(20, 1 / 8));
  const cases = [...onceFound, onLostNode, ...others];
  const ends = await runCases(cases, { engine, longest: 600_000 });
  expect(complaintsOf(ends)).toEqual([]);
  expect(ends).toHaveLength(cases.length);
}, 1_200_000);

/** The first few of ever another kind of trigger and place. */
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
