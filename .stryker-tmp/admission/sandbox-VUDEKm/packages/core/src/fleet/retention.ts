import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { JobServices } from "../jobs/services.ts";
import { removeUncollectedGit } from "../runner/recovery/collect-late-commits.ts";

const batchSize = 50;
const cleanupIntervalMs = 24 * 3_600_000;
/** The day on which clocks are set back. */
const longestDayMs = 25 * 3_600_000;

/** Removes old finished jobs, at startup and then once a day. */
export class RetentionCleanup {
  private readonly timer: NodeJS.Timeout;
  private stopped = false;
  private currentRun: Promise<void>;

  constructor(private readonly context: JobServices) {
    this.currentRun = this.cleanUp();
    this.timer = setInterval(() => {
      this.currentRun = this.cleanUp();
    }, cleanupIntervalMs).unref();
  }

  /** Called when this process becomes the leader. */
  runAgain(): void {
    this.currentRun = this.currentRun.then(() => this.cleanUp());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.currentRun;
  }

  private async cleanUp(): Promise<void> {
    try {
      await this.removeOrphanedFolders();
      // Records belong to all nodes, so only the leader removes them.
      if (!this.context.isLeader()) return;
      await this.removeOldJobs();
      await this.removeDeliveries();
      await this.removeDueTimes();
    } catch (error) {
      this.context.reportError("Failed to remove old jobs", error);
    }
  }

  private async removeOldJobs(): Promise<void> {
    const { age, jobs_per_agent: keepPerAgent } = this.context.fleet().fleet.retention;
    const finishedBefore = new Date(Date.now() - Math.max(age, this.minAgeMs()));
    while (!this.stopped) {
      const ids = await this.context.state.jobs.prune({
        finishedBefore,
        keepPerAgent,
        limit: batchSize,
      });
      for (const id of ids) await this.removeJobFolder(id);
      if (ids.length < batchSize) break;
      await yieldToEventLoop();
    }
    await this.removeKeptGitFolders();
  }

  /** Daily spending is counted from jobs, so the jobs of a whole day are kept. */
  private minAgeMs(): number {
    const { fleet, agents } = this.context.fleet();
    const budgets = [fleet.budget, ...agents.map(({ budget }) => budget)];
    return budgets.some((budget) => Object.keys(budget).length > 0) ? longestDayMs : 0;
  }

  private async removeDueTimes(): Promise<void> {
    const before = new Date(Date.now() - this.context.fleet().fleet.retention.age);
    while (!this.stopped && (await this.context.state.schedules.prune(before, batchSize)) > 0) {
      await yieldToEventLoop();
    }
  }

  private async removeDeliveries(): Promise<void> {
    const { age, deliveries: keep } = this.context.fleet().fleet.retention;
    const receivedBefore = new Date(Date.now() - age);
    const policy = { receivedBefore, keep, limit: batchSize };
    while (!this.stopped && (await this.context.state.deliveries.prune(policy)) === batchSize) {
      await yieldToEventLoop();
    }
  }

  /** A folder without a record was being removed when the fleet stopped. */
  private async removeOrphanedFolders(): Promise<void> {
    const folders = await readdir(join(this.context.state.stateDir, "jobs")).catch(() => []);
    for (const [index, id] of folders.entries()) {
      if (this.stopped) return;
      // There may be 100,000 folders, and the embedded store answers synchronously.
      if (index % batchSize === 0) await yieldToEventLoop();
      const isOrphaned = id.startsWith("job-") && !(await this.context.state.jobs.get(id));
      if (isOrphaned) await this.removeJobFolder(id);
    }
    await this.removeKeptGitFolders();
  }

  private async removeKeptGitFolders(): Promise<void> {
    const { stateDir, jobs } = this.context.state;
    await removeUncollectedGit(stateDir, async (id) => (await jobs.get(id)) === undefined);
  }

  private async removeJobFolder(id: string): Promise<void> {
    await rm(this.context.state.jobDir(id), { recursive: true, force: true });
  }
}
