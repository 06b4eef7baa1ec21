import type { Job } from "@herdctl/protocol";
import type { ClaimLimits } from "./claim.ts";

/** Commands that a queue sends to a fleet process. */
export interface NodeCommandHandlers {
  /**
   * Returns false if the job does not, or no longer, belong to this process. If it throws, the
   * command is repeated.
   */
  begin(jobId: string): Promise<boolean>;
  cancel(jobId: string, force: boolean): Promise<void>;
  reload(): Promise<void>;
}

export interface Assignments {
  /** Jobs to start here, in order. */
  startHere: string[];
  /** When the next job may be assigned; undefined if only an event can change that. */
  nextDue: Date | undefined;
  /** Number of unfinished jobs. */
  unfinishedCount: number;
}

/**
 * Assigns jobs to processes. One implementation serves a fleet with one process, another serves
 * nodes that share a store. Callers do not depend on which one they have.
 */
export interface Queue {
  /**
   * Decides which jobs start now and assigns each to a process, in one step. `hasNewJobs`: a job
   * was just created, so there is probably something to decide.
   */
  assign(limits: ClaimLimits, now: Date, hasNewJobs?: boolean): Promise<Assignments>;
  /** The job is assigned to this process, and no attempt has started since. */
  isOurs(job: Job): boolean;
  /** From now on, commands of other nodes are passed to `handlers`. */
  start(handlers: NodeCommandHandlers): Promise<void>;
  /**
   * Sends the cancellation to the process that has the job. Returns false if that is this process,
   * or none.
   */
  cancel(job: Job, force: boolean): Promise<boolean>;
  /** Makes all other processes reload their configuration. */
  reload(): Promise<void>;
  /** How often to poll without an event, in milliseconds; undefined if no event can be lost. */
  readonly pollIntervalMs?: number;
  stop(): Promise<void>;
}
