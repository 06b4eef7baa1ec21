import type { ResolvedAgent } from "../config/resolve.ts";
import type { Attempt } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";
import { outcomes } from "./outcomes.ts";

export interface AttemptFacts {
  /** The number of the attempt that has just ended. */
  attempt: number;
  outcome: Outcome;
  /** Its runner died under it. */
  crashed: boolean;
  /** Those of the job so far; whether this one is among them does not matter. */
  attempts: readonly Pick<Attempt, "number" | "outcome_code" | "crashed">[];
  retry: ResolvedAgent["retry"];
  now: Date;
  /** From 0 to 1. */
  random: number;
}

/** `outcome` is what to record: that of the attempt, or what several of them come to. */
export type NextStep =
  | { kind: "finish"; outcome: Outcome }
  | { kind: "retry"; outcome: Outcome; due_at: string }
  | { kind: "wait"; outcome: Outcome; due_at: string }
  /** The job is finished, and the credential paused until a person has seen to it. */
  | { kind: "pause"; outcome: Outcome };

const mostCrashes = 3;

/** Whether it depends on the attempts before; there is no need to look for them otherwise. */
export function dependsOnEarlier({ code }: Outcome): boolean {
  const { retry } = outcomes[code];
  return retry === "wait" || retry === "backoff";
}

/** What follows an attempt. */
export function nextStep(facts: AttemptFacts): NextStep {
  const { outcome } = facts;
  const { retry } = outcomes[outcome.code];
  if (retry === "no") return { kind: "finish", outcome };
  if (retry === "person") return { kind: "pause", outcome };
  const crashes = countCrashes(facts);
  if (crashes >= mostCrashes) return { kind: "finish", outcome: setAside(crashes, outcome) };
  return retry === "wait" ? wait(facts) : tryAgain(facts);
}

function countCrashes(facts: AttemptFacts): number {
  return earlier(facts).filter((one) => one.crashed).length + (facts.crashed ? 1 : 0);
}

function setAside(crashes: number, last: Outcome): Outcome {
  return {
    code: "runtime_crashed",
    message: `The process that ran this job died ${crashes} times. The last time: ${last.message}`,
    hint: "Look into stderr.log of the job and the log of the fleet; then resume it with `herdctl trigger --resume`.",
  };
}

const afterReset = 1_000;
const withoutReset = 5 * 60_000;

/** A limit is nobody's failure, so it counts for nothing but the pause before we believe the next. */
function wait(facts: AttemptFacts): NextStep {
  const { outcome, now } = facts;
  const reset = outcome.resets_at
    ? Date.parse(outcome.resets_at) + afterReset
    : now.getTime() + withoutReset;
  const waitedInVain = earlier(facts).filter((one) => kindOf(one) === "wait").length;
  const soonest = now.getTime() + Math.min(withoutReset, afterReset * 2 ** waitedInVain);
  return { kind: "wait", outcome, due_at: new Date(Math.max(reset, soonest)).toISOString() };
}

const longestPause = 60 * 60_000;

function tryAgain(facts: AttemptFacts): NextStep {
  const { outcome, retry, now, random } = facts;
  const failures = earlier(facts).filter((one) => kindOf(one) === "backoff").length;
  if (failures + 1 >= retry.max_attempts) return { kind: "finish", outcome };
  const pause = Math.min(longestPause, retry.backoff * 2 ** failures);
  const spread = Math.min(longestPause, pause * (0.8 + 0.4 * random));
  return { kind: "retry", outcome, due_at: new Date(now.getTime() + spread).toISOString() };
}

/** An attempt without an outcome broke off in a way that was not understood. */
function kindOf({ outcome_code }: AttemptFacts["attempts"][number]): string {
  return outcome_code === null ? "backoff" : outcomes[outcome_code].retry;
}

function earlier({ attempt, attempts }: AttemptFacts): AttemptFacts["attempts"] {
  return attempts.filter((one) => one.number < attempt);
}
