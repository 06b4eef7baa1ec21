import type { UnfinishedJob } from "@herdctl/protocol";
import type { JobStore } from "../../store/contracts/job-store.ts";
import { type ClaimLimits, claim, nextDue } from "./claim.ts";
import type { Assignments, Queue } from "./queue-interface.ts";

interface EmbeddedQueueOptions {
  jobs: Pick<JobStore, "listLive">;
  /** The job is being prepared, although its record does not show it yet. */
  isActive(jobId: string): boolean;
  /** Jobs of other processes are not started, but count towards the limits. */
  isOwnJob(jobId: string): boolean;
}

/** The queue of a fleet with one process: all jobs belong to it. */
export class EmbeddedQueue implements Queue {
  constructor(private readonly options: EmbeddedQueueOptions) {}

  async assign(limits: ClaimLimits, now: Date): Promise<Assignments> {
    const live = await this.options.jobs.listLive();
    const snapshot = live
      .map((job) => this.withCurrentStatus(job))
      .filter((job) => this.countsHere(job));
    return {
      startHere: claim(snapshot, limits, now),
      nextDue: nextDue(snapshot, limits, now),
      unfinishedCount: live.length,
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

  private withCurrentStatus(job: UnfinishedJob): UnfinishedJob {
    return this.options.isActive(job.id) ? { ...job, status: "running" } : job;
  }

  private countsHere({ id, status }: UnfinishedJob): boolean {
    return status === "running" || this.options.isOwnJob(id);
  }
}
