import type { ResolvedAgent } from "@herdctl/config";
import { type Attempt, type Outcome, outcomes } from "@herdctl/protocol";

export interface AttemptFacts {
  /** The number of the attempt that has just ended. */
  attempt: number;
  outcome: Outcome;
  /** The runner died during the attempt. */
  crashed: boolean;
  /** Attempts of the job so far; may include this one. */
  attempts: readonly Pick<Attempt, "number" | "outcome_code" | "crashed">[];
  retry: ResolvedAgent["retry"];
  now: Date;
  /** From 0 to 1. */
  random: number;
}

/** `outcome` is the outcome to record, of the attempt or of several attempts together. */
export type NextStep =
  | { kind: "finish"; outcome: Outcome }
  | { kind: "retry"; outcome: Outcome; due_at: string }
  | { kind: "wait"; outcome: Outcome; due_at: string }
  /** The job is finished, and the credential is paused until a person resumes it. */
  | { kind: "pause"; outcome: Outcome };

const maxCrashes = 3;

/** Whether the decision depends on earlier attempts, which must then be read. */
export function needsEarlierAttempts({ code }: Outcome): boolean {
  const { retry } = outcomes[code];
  return retry === "wait" || retry === "backoff";
}

/** Decides what follows an attempt. */
export function nextStep(facts: AttemptFacts): NextStep {
  const { outcome } = facts;
  const { retry } = outcomes[outcome.code];
  if (retry === "no") return { kind: "finish", outcome };
  // defence: no-retry-on-refused-credential
  if (retry === "person") return { kind: "pause", outcome };
  const crashes = countCrashes(facts);
  if (crashes >= /* defence: max-crashes */ maxCrashes)
    return { kind: "finish", outcome: tooManyCrashes(crashes, outcome) };
  return retry === "wait" ? waitForReset(facts) : retryWithBackoff(facts);
}

function countCrashes(facts: AttemptFacts): number {
  return earlierAttempts(facts).filter(({ crashed }) => crashed).length + (facts.crashed ? 1 : 0);
}

function tooManyCrashes(crashes: number, last: Outcome): Outcome {
  return {
    code: "runtime_crashed",
    message: `The process that ran this job died ${crashes} times. The last time: ${last.message}`,
    hint: "Check the job's stderr.log and the fleet's log, then resume the job with `herdctl trigger --resume`.",
  };
}

const resetMarginMs = 1_000;
const defaultWaitMs = 5 * 60_000;

/**
 * A usage limit is not a failure of the job. It only extends the minimum wait before the next
 * attempt.
 */
function waitForReset(facts: AttemptFacts): NextStep {
  const { outcome, now } = facts;
  const resetMs = outcome.resets_at
    ? Date.parse(outcome.resets_at) + resetMarginMs
    : now.getTime() + defaultWaitMs;
  const earlierWaits = earlierAttempts(facts).filter(
    (attempt) => retryKindOf(attempt) === "wait",
  ).length;
  const earliestMs = now.getTime() + Math.min(defaultWaitMs, resetMarginMs * 2 ** earlierWaits);
  return { kind: "wait", outcome, due_at: new Date(Math.max(resetMs, earliestMs)).toISOString() };
}

const maxBackoffMs = 60 * 60_000;

function retryWithBackoff(facts: AttemptFacts): NextStep {
  const { outcome, retry, now, random } = facts;
  const failures = earlierAttempts(facts).filter(
    (attempt) => retryKindOf(attempt) === "backoff",
  ).length;
  // defence: max-attempts
  if (failures + 1 >= retry.max_attempts) return { kind: "finish", outcome };
  const backoffMs = Math.min(maxBackoffMs, retry.backoff * 2 ** failures);
  const jitteredMs = Math.min(maxBackoffMs, backoffMs * (0.8 + 0.4 * random));
  return { kind: "retry", outcome, due_at: new Date(now.getTime() + jitteredMs).toISOString() };
}

/** An attempt without an outcome ended for an unknown reason. */
function retryKindOf({ outcome_code }: AttemptFacts["attempts"][number]): string {
  return outcome_code === null ? "backoff" : outcomes[outcome_code].retry;
}

function earlierAttempts({ attempt, attempts }: AttemptFacts): AttemptFacts["attempts"] {
  return attempts.filter(({ number }) => number < attempt);
}
