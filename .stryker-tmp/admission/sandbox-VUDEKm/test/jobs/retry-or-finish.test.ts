import { type OutcomeCode, outcomes } from "@herdctl/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AttemptFacts, nextStep } from "../../packages/core/src/jobs/attempts/next-step.ts";
import { noon, secondsAfterNoon } from "./job-fixture.ts";

const outcome = (code: OutcomeCode, resets_at?: string) => ({
  code,
  message: `said of ${code}`,
  hint: "what to do",
  ...(resets_at && { resets_at }),
});

/** Earlier attempts in short: `network`, or `interrupted!` when the runner died. */
function attemptFacts(
  code: OutcomeCode,
  earlier: string[] = [],
  change: Partial<AttemptFacts> = {},
): AttemptFacts {
  return {
    attempt: earlier.length + 1,
    outcome: outcome(code),
    crashed: false,
    attempts: earlier.map((text, index) => ({
      number: index + 1,
      outcome_code: text.replace("!", "") as OutcomeCode,
      crashed: text.endsWith("!"),
    })),
    retry: { max_attempts: 3, backoff: 30_000 },
    now: noon,
    random: 0.5,
    ...change,
  };
}

/** Formats a step like `retry in 30`. */
function describeStep(given: AttemptFacts): string {
  const step = nextStep(given);
  if (!("due_at" in step)) return `${step.kind} ${step.outcome.code}`;
  return `${step.kind} in ${(Date.parse(step.due_at) - noon.getTime()) / 1000}`;
}

const soon = secondsAfterNoon(3).toISOString();
const longAgo = secondsAfterNoon(-3600).toISOString();

describe("next step after an attempt", () => {
  const cases: [what: string, facts: AttemptFacts, step: string][] = [
    ["finishes after a success", attemptFacts("success"), "finish success"],
    [
      "finishes after a success although the runner crashed later",
      attemptFacts("success", ["interrupted!", "interrupted!"], { crashed: true }),
      "finish success",
    ],
    ["finishes after a cancel", attemptFacts("cancelled"), "finish cancelled"],
    ["finishes when a person has to decide", attemptFacts("max_turns"), "finish max_turns"],
    ["retries a temporary failure", attemptFacts("network"), "retry in 30"],
    ["doubles the delay for the next retry", attemptFacts("network", ["network"]), "retry in 60"],
    [
      "finishes after the last attempt",
      attemptFacts("network", ["network", "stalled"]),
      "finish network",
    ],
    [
      "does not retry with a single attempt",
      attemptFacts("network", [], { retry: { max_attempts: 1, backoff: 1 } }),
      "finish network",
    ],
    [
      "limits the delay",
      attemptFacts("network", Array(20).fill("network"), {
        retry: { max_attempts: 100, backoff: 30_000 },
      }),
      "retry in 3600",
    ],
    ["shortens the delay with jitter", attemptFacts("network", [], { random: 0 }), "retry in 24"],
    ["lengthens the delay with jitter", attemptFacts("network", [], { random: 1 }), "retry in 36"],
    [
      "waits until one second after the reset of a limit",
      attemptFacts("usage_limit", [], { outcome: outcome("usage_limit", soon) }),
      "wait in 4",
    ],
    [
      "waits five minutes for a limit without a reset time",
      attemptFacts("rate_limited"),
      "wait in 300",
    ],
    [
      "waits briefly when the reset has passed",
      attemptFacts("usage_limit", [], { outcome: outcome("usage_limit", longAgo) }),
      "wait in 1",
    ],
    [
      "waits longer each time when the reset has passed",
      attemptFacts("usage_limit", Array(5).fill("usage_limit"), {
        outcome: outcome("usage_limit", longAgo),
      }),
      "wait in 32",
    ],
    [
      "does not count waits as attempts",
      attemptFacts("usage_limit", Array(50).fill("usage_limit")),
      "wait in 300",
    ],
    [
      "does not count earlier waits for a failure",
      attemptFacts("network", Array(50).fill("usage_limit")),
      "retry in 30",
    ],
    [
      "does not count earlier failures for a wait",
      attemptFacts("usage_limit", ["network", "network"]),
      "wait in 300",
    ],
    ["pauses on a refused credential", attemptFacts("auth_failed"), "pause auth_failed"],
    ["pauses on a billing problem", attemptFacts("billing", ["network"]), "pause billing"],
    [
      "retries after a runner crash",
      attemptFacts("interrupted", ["interrupted!"], { crashed: true }),
      "retry in 60",
    ],
    [
      "finishes after the third crash, whatever the number of attempts",
      attemptFacts("interrupted", ["interrupted!", "network", "interrupted!"], {
        crashed: true,
        retry: { max_attempts: 100, backoff: 1 },
      }),
      "finish runtime_crashed",
    ],
    [
      "retries when one of three attempts did not crash",
      attemptFacts("interrupted", ["interrupted!", "network"], {
        crashed: true,
        retry: { max_attempts: 100, backoff: 1000 },
      }),
      "retry in 4",
    ],
  ];
  test.each(cases)("%s", (_, given, step) => {
    expect(describeStep(given)).toBe(step);
  });

  test("explains in the outcome why a job was abandoned", () => {
    const { outcome: recorded } = nextStep(
      attemptFacts("interrupted", ["interrupted!", "interrupted!"], { crashed: true }),
    );
    expect(recorded.code).toBe("runtime_crashed");
    expect(recorded.message).toContain("3 times");
    expect(recorded.message).toContain("said of interrupted");
    expect(recorded.hint).not.toBe("");
  });
});

const codes = Object.keys(outcomes) as OutcomeCode[];
const anyFacts = fc
  .record({
    code: fc.constantFrom(...codes),
    earlier: fc.array(fc.tuple(fc.constantFrom(...codes), fc.boolean()), { maxLength: 12 }),
    crashed: fc.boolean(),
    max_attempts: fc.integer({ min: 1, max: 100 }),
    backoff: fc.integer({ min: 1, max: 10_000_000 }),
    random: fc.double({ min: 0, max: 1, noNaN: true }),
    resetsIn: fc.option(fc.integer({ min: -10_000, max: 1_000_000 })),
  })
  .map(({ code, earlier, crashed, max_attempts, backoff, random, resetsIn }) =>
    attemptFacts(
      code,
      earlier.map(([one, died]) => (died ? `${one}!` : one)),
      {
        crashed,
        random,
        retry: { max_attempts, backoff },
        outcome: outcome(
          code,
          resetsIn === null ? undefined : secondsAfterNoon(resetsIn).toISOString(),
        ),
      },
    ),
  );

describe("any attempt", () => {
  test("gives the same answer when the attempt is already recorded", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { attempt: number, crashed } = given;
        const ended = { number, outcome_code: given.outcome.code, crashed };
        const again = { ...given, attempts: [...given.attempts, ended] };
        expect(nextStep(again)).toEqual(nextStep(given));
      }),
    );
  });

  test("schedules the next step later, within an hour unless a limit resets later", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const step = nextStep(given);
        if (!("due_at" in step)) return;
        const pause = Date.parse(step.due_at) - noon.getTime();
        expect(pause).toBeGreaterThanOrEqual(0);
        if (step.kind === "retry") expect(pause).toBeLessThanOrEqual(3_600_000);
        const reset = given.outcome.resets_at;
        if (step.kind === "wait" && reset) expect(step.due_at > reset).toBe(true);
      }),
    );
  });

  test("finishes a job that only fails", () => {
    fc.assert(
      fc.property(
        fc.infiniteStream(
          fc.tuple(fc.constantFrom<OutcomeCode>("network", "stalled", "interrupted"), fc.boolean()),
        ),
        fc.integer({ min: 1, max: 20 }),
        (failures, max_attempts) => {
          const earlier: string[] = [];
          for (;;) {
            const [code, crashed] = failures.next().value;
            const given = attemptFacts(code, earlier, {
              crashed,
              retry: { max_attempts, backoff: 1000 },
            });
            if (nextStep(given).kind === "finish") break;
            earlier.push(crashed ? `${code}!` : code);
          }
          expect(earlier.length).toBeLessThan(max_attempts);
        },
      ),
    );
  });
});
