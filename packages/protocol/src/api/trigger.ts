import type { Job } from "../records/job.ts";

/** Idempotency keys have up to 500 characters, but no control characters or unpaired surrogates. */
export const idempotencyKeyPattern = /^[^\p{Cc}\p{Cs}]{1,500}$/u;

/** A request to run an agent. */
export interface TriggerRequest {
  agent: string;
  /** Without it, the prompt of the schedule or the agent's `default_prompt`. */
  prompt?: string;
  /** Run this schedule of the agent now. */
  schedule?: string;
  /** Idempotency key: repeated requests with the same key return the same job. */
  key?: string;
  /** The session to resume, given by its ID or by the ID of a job that ran in it. */
  resume?: string;
  /** The session to fork, given in the same way. */
  fork?: string;
  /** With `fork`: the `uuid` of the last message to keep. */
  forkPoint?: string;
  /** An operator wrote the prompt, so `@path` and `/command` in it are expanded. */
  expand?: boolean;
  /** Stream texts to viewers while the model writes them. Not recorded. */
  stream?: boolean;
  /** A turn of a conversation: the job counts as `chat`, and `claude` stays for the next turn. */
  conversation?: boolean;
}

export interface Admission {
  job: Job;
  /** False if the key was used before; `job` is then the existing job. */
  created: boolean;
}
