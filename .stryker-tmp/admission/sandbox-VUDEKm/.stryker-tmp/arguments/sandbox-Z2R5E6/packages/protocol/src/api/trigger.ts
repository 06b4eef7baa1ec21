import type { Job, TriggerType } from "../records/job.ts";

/** The request that every kind of trigger builds. */
export interface TriggerRequest {
  trigger: TriggerType;
  agent: string;
  schedule?: string;
  prompt?: string;
  /** Idempotency key: repeated requests with the same key return the same job. */
  key?: string;
  /** The session to resume, given by its ID or by the ID of a job that ran in it. */
  resume?: string;
  /** The session to fork, given in the same way. */
  fork?: string;
  /** With `fork`: the last message to keep. */
  forkAt?: string;
  jobId?: string;
  /** A user is watching, so texts are streamed. Not recorded. */
  watched?: boolean;
  /** An operator wrote the prompt, so `@path` and `/command` in it are expanded. */
  expand?: boolean;
  /** A turn of a conversation: `claude` keeps running for the next turn. Not recorded. */
  live?: boolean;
}

export interface Admission {
  job: Job;
  /** False if the key was used before; `job` is then the existing job. */
  created: boolean;
}
