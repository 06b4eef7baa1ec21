import { type OutcomeCode, outcomes } from "@herdctl/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AttemptFacts, nextStep } from "../../packages/core/src/runner/next-step.ts";
import { at, noon } from "./live-job.ts";

const outcome = (code: OutcomeCode, resets_at?: string) => ({
  code,
  message: `said of ${code}`,
  hint: "what to do",
  ...(resets_at && { resets_at }),
});

/** Earlier attempts in short: `network`, or `interrupted!` when the runner died. */
function facts(
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

/** `retry in 30` and the like. */
function told(given: AttemptFacts): string {
  const step = nextStep(given);
  if (!("due_at" in step)) return `${step.kind} ${step.outcome.code}`;
  return `${step.kind} in ${(Date.parse(step.due_at) - noon.getTime()) / 1000}`;
}

const soon = at(3).toISOString();
const longAgo = at(-3600).toISOString();

describe("after an attempt", () => {
  const cases: [what: string, facts: AttemptFacts, step: string][] = [
    ["success is the end", facts("success"), "finish success"],
    [
      "success is the end, though the runner died after it",
      facts("success", ["interrupted!", "interrupted!"], { crashed: true }),
      "finish success",
    ],
    ["cancelled is the end", facts("cancelled"), "finish cancelled"],
    ["what a person decides is the end", facts("max_turns"), "finish max_turns"],
    ["what may pass is tried again", facts("network"), "retry in 30"],
    ["after twice the time", facts("network", ["network"]), "retry in 60"],
    ["but not for ever", facts("network", ["network", "stalled"]), "finish network"],
    [
      "a single attempt is not repeated",
      facts("network", [], { retry: { max_attempts: 1, backoff: 1 } }),
      "finish network",
    ],
    [
      "the pause has an end",
      facts("network", Array(20).fill("network"), {
        retry: { max_attempts: 100, backoff: 30_000 },
      }),
      "retry in 3600",
    ],
    ["jitter makes it shorter", facts("network", [], { random: 0 }), "retry in 24"],
    ["or longer", facts("network", [], { random: 1 }), "retry in 36"],
    [
      "a limit is waited for, and a second more",
      facts("usage_limit", [], { outcome: outcome("usage_limit", soon) }),
      "wait in 4",
    ],
    ["one that does not say when, for five minutes", facts("rate_limited"), "wait in 300"],
    [
      "a reset that has passed is not believed at once",
      facts("usage_limit", [], { outcome: outcome("usage_limit", longAgo) }),
      "wait in 1",
    ],
    [
      "and less each time",
      facts("usage_limit", Array(5).fill("usage_limit"), {
        outcome: outcome("usage_limit", longAgo),
      }),
      "wait in 32",
    ],
    [
      "waiting counts for nothing",
      facts("usage_limit", Array(50).fill("usage_limit")),
      "wait in 300",
    ],
    [
      "not even for a failure afterwards",
      facts("network", Array(50).fill("usage_limit")),
      "retry in 30",
    ],
    [
      "and failures do not spend the wait",
      facts("usage_limit", ["network", "network"]),
      "wait in 300",
    ],
    ["a credential that is refused needs a person", facts("auth_failed"), "pause auth_failed"],
    ["and so does an account that cannot pay", facts("billing", ["network"]), "pause billing"],
    [
      "a runner that died is replaced",
      facts("interrupted", ["interrupted!"], { crashed: true }),
      "retry in 60",
    ],
    [
      "the third that dies is the last, however many attempts there are",
      facts("interrupted", ["interrupted!", "network", "interrupted!"], {
        crashed: true,
        retry: { max_attempts: 100, backoff: 1 },
      }),
      "finish runtime_crashed",
    ],
    [
      "not the third of which one lived",
      facts("interrupted", ["interrupted!", "network"], {
        crashed: true,
        retry: { max_attempts: 100, backoff: 1000 },
      }),
      "retry in 4",
    ],
  ];
  test.each(cases)("%s", (_, given, step) => {
    expect(told(given)).toBe(step);
  });

  test("a job that is set aside tells how it came to that", () => {
    const { outcome: recorded } = nextStep(
      facts("interrupted", ["interrupted!", "interrupted!"], { crashed: true }),
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
    facts(
      code,
      earlier.map(([one, died]) => (died ? `${one}!` : one)),
      {
        crashed,
        random,
        retry: { max_attempts, backoff },
        outcome: outcome(code, resetsIn === null ? undefined : at(resetsIn).toISOString()),
      },
    ),
  );

describe("whatever happened", () => {
  test("the answer is the same when the attempt has been recorded already", () => {
    fc.assert(
      fc.property(anyFacts, (given) => {
        const { attempt: number, crashed } = given;
        const ended = { number, outcome_code: given.outcome.code, crashed };
        const again = { ...given, attempts: [...given.attempts, ended] };
        expect(nextStep(again)).toEqual(nextStep(given));
      }),
    );
  });

  test("what follows comes later, within an hour unless a limit says otherwise", () => {
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

  test("a job that only fails comes to its end", () => {
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
            const given = facts(code, earlier, { crashed, retry: { max_attempts, backoff: 1000 } });
            if (nextStep(given).kind === "finish") break;
            earlier.push(crashed ? `${code}!` : code);
          }
          expect(earlier.length).toBeLessThan(max_attempts);
        },
      ),
    );
  });
});
