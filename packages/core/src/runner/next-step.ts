import type { ResolvedAgent } from "../config/resolve.ts";
import type { Attempt } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";

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

/** What follows an attempt. */
export function nextStep({ outcome }: AttemptFacts): NextStep {
  return { kind: "finish", outcome };
}
