import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type BackoffState,
  nextBackoff,
} from "../../packages/core/src/jobs/dispatch/api-backoff.ts";
import type { OutcomeCode } from "../../packages/protocol/src/records/outcome.ts";
import { secondsAfterNoon } from "./job-fixture.ts";

/** Applies outcomes at seconds after noon; returns the ends of the pauses. */
function pauseEnds(...seen: [seconds: number, outcome: OutcomeCode][]): string[] {
  let current: BackoffState | undefined;
  return seen.map(([seconds, outcome]) => {
    current = nextBackoff(current, outcome, secondsAfterNoon(seconds));
    return current ? String((current.until.getTime() - secondsAfterNoon(0).getTime()) / 1000) : "-";
  });
}

const cases: [what: string, seen: [number, OutcomeCode][], until: string][] = [
  ["does not pause for a success", [[0, "success"]], "-"],
  ["pauses for five seconds after an overload", [[0, "overloaded"]], "5"],
  [
    "ignores failures during the pause",
    [
      [0, "overloaded"],
      [1, "overloaded"],
      [4, "overloaded"],
    ],
    "5 5 5",
  ],
  [
    "doubles the pause after a later failure",
    [
      [0, "overloaded"],
      [5, "overloaded"],
      [15, "overloaded"],
    ],
    "5 15 35",
  ],
  [
    "ends the pause immediately after a success",
    [
      [0, "overloaded"],
      [1, "success"],
      [2, "overloaded"],
    ],
    "5 - 7",
  ],
  [
    "ends the pause after a success with denials",
    [
      [0, "overloaded"],
      [1, "finished_with_denials"],
    ],
    "5 -",
  ],
  [
    "ignores other failures",
    [
      [0, "network"],
      [1, "overloaded"],
      [9, "stalled"],
    ],
    "- 6 6",
  ],
  [
    "forgets an overload from long ago",
    [
      [0, "overloaded"],
      [5, "overloaded"],
      [400, "overloaded"],
    ],
    "5 15 405",
  ],
];
test.each(cases)("%s", (_, seen, until) => {
  expect(pauseEnds(...seen).join(" ")).toBe(until);
});

test("keeps every pause between five seconds and five minutes", () => {
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
      let current: BackoffState | undefined;
      for (const [later, code] of steps) {
        time += later;
        const next = nextBackoff(current, code, secondsAfterNoon(time));
        if (next && next !== current) {
          expect(next.until.getTime() - secondsAfterNoon(time).getTime()).toBe(next.delayMs);
          expect(next.delayMs).toBeGreaterThanOrEqual(5_000);
          expect(next.delayMs).toBeLessThanOrEqual(300_000);
        }
        current = next;
      }
    }),
  );
});
