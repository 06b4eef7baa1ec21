import type { LiveJob } from "../state/job.ts";
import type { JobStore } from "../state/job-store.ts";
import { type ClaimLimits, claim, nextDue } from "./claim.ts";
import type { HandedOut, Queue } from "./contract.ts";

interface EmbeddedQueueOptions {
  jobs: Pick<JobStore, "snapshot">;
  /** It is being prepared, though its record does not say so yet. */
  isActive(jobId: string): boolean;
  /** Jobs of somebody else are not started, but they take their place. */
  concerns(jobId: string): boolean;
}

/** The queue of a fleet that is one process: all jobs are its own. */
export class EmbeddedQueue implements Queue {
  constructor(private readonly options: EmbeddedQueueOptions) {}

  async handOut(limits: ClaimLimits, now: Date): Promise<HandedOut> {
    const live = await this.options.jobs.snapshot();
    const snapshot = live.map((job) => this.asItIs(job)).filter((job) => this.concernsUs(job));
    return {
      here: claim(snapshot, limits, now),
      nextDue: nextDue(snapshot, limits, now),
      length: live.length,
    };
  }

  isOurs(): boolean {
    return true;
  }

  async start(): Promise<void> {}

  async cancel(): Promise<boolean> {
    return false;
  }

  async reload(): Promise<void> {}

  async stop(): Promise<void> {}

  private asItIs(job: LiveJob): LiveJob {
    return this.options.isActive(job.id) ? { ...job, status: "running" } : job;
  }

  private concernsUs({ id, status }: LiveJob): boolean {
    return status === "running" || this.options.concerns(id);
  }
}
