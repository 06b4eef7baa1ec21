import fc from "fast-check";
import { expect, test } from "vitest";
import { type SlowDown, slowDown } from "../../packages/core/src/queue/slow-down.ts";
import type { OutcomeCode } from "../../packages/core/src/state/outcome.ts";
import { at } from "./live-job.ts";

/** Seconds after noon and what was seen then; the pauses that follow, as `from-until`. */
function pauses(...seen: [seconds: number, outcome: OutcomeCode][]): string[] {
  let current: SlowDown | undefined;
  return seen.map(([seconds, outcome]) => {
    current = slowDown(current, outcome, at(seconds));
    return current ? String((current.until.getTime() - at(0).getTime()) / 1000) : "-";
  });
}

const cases: [what: string, seen: [number, OutcomeCode][], until: string][] = [
  ["nothing at first", [[0, "success"]], "-"],
  ["an overload pauses for five seconds", [[0, "overloaded"]], "5"],
  [
    "runs that fail meanwhile change nothing",
    [
      [0, "overloaded"],
      [1, "overloaded"],
      [4, "overloaded"],
    ],
    "5 5 5",
  ],
  [
    "one that fails afterwards doubles it",
    [
      [0, "overloaded"],
      [5, "overloaded"],
      [15, "overloaded"],
    ],
    "5 15 35",
  ],
  [
    "a success ends it at once",
    [
      [0, "overloaded"],
      [1, "success"],
      [2, "overloaded"],
    ],
    "5 - 7",
  ],
  [
    "a success with denials, too",
    [
      [0, "overloaded"],
      [1, "finished_with_denials"],
    ],
    "5 -",
  ],
  [
    "other failures say nothing of it",
    [
      [0, "network"],
      [1, "overloaded"],
      [9, "stalled"],
    ],
    "- 6 6",
  ],
  [
    "an overload of long ago is forgotten",
    [
      [0, "overloaded"],
      [5, "overloaded"],
      [400, "overloaded"],
    ],
    "5 15 405",
  ],
];
test.each(cases)("%s", (_, seen, until) => {
  expect(pauses(...seen).join(" ")).toBe(until);
});

test("a pause is never shorter than five seconds nor longer than five minutes", () => {
  const codes = fc.constantFrom<OutcomeCode>(
    "overloaded",
    "overloaded",
    "overloaded",
    "network",
    "success",
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(400), codes), { maxLength: 40 }), (steps) => {
      let time = 0;
      let current: SlowDown | undefined;
      for (const [later, code] of steps) {
        time += later;
        const next = slowDown(current, code, at(time));
        if (next && next !== current) {
          expect(next.until.getTime() - at(time).getTime()).toBe(next.delay);
          expect(next.delay).toBeGreaterThanOrEqual(5_000);
          expect(next.delay).toBeLessThanOrEqual(300_000);
        }
        current = next;
      }
    }),
  );
});
