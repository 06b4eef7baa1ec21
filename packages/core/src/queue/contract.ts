import type { Job } from "../state/job.ts";
import type { ClaimLimits } from "./claim.ts";

/** What a queue makes a fleet process do. */
export interface Hands {
  /** False when the job is not, or no longer, this one's to begin. What it throws brings the order again. */
  begin(jobId: string): Promise<boolean>;
  cancel(jobId: string, force: boolean): Promise<void>;
  reload(): Promise<void>;
}

export interface HandedOut {
  /** To be begun here, in this order. */
  here: string[];
  /** When something may be handed out that may not be now; undefined if only an event can bring that. */
  nextDue: Date | undefined;
  /** How many jobs there are that are not finished. */
  length: number;
}

/**
 * How jobs come to those who run them. One implementation is for a fleet with one process, another
 * for nodes that share a store; whoever uses it does not ask which it has.
 */
export interface Queue {
  /**
   * Decides which jobs start now and gives each to one who begins it, in one step. `isNew` says that
   * a job has just come, so that there is most likely something to decide.
   */
  handOut(limits: ClaimLimits, now: Date, isNew?: boolean): Promise<HandedOut>;
  /** It was handed out to this process, and no attempt has begun since. */
  isOurs(job: Job): boolean;
  /** From now on orders of others are carried out by these hands. */
  start(hands: Hands): Promise<void>;
  /** Tells the process that has the job. False when that is no other than this one, or nobody. */
  cancel(job: Job, force: boolean): Promise<boolean>;
  /** Tells all others to read their configuration. */
  reload(): Promise<void>;
  /** How often to look though nothing was heard, in milliseconds; undefined where nothing can get lost. */
  readonly lookEvery?: number;
  stop(): Promise<void>;
}
