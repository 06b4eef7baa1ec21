import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as breathe } from "node:timers/promises";
import type { FleetContext } from "./context.ts";

const atATime = 50;
const onceADay = 24 * 3_600_000;
/** The one on which clocks are set back. */
const longestDay = 25 * 3_600_000;

/** Removes finished jobs that need not be kept, at the start and then once a day. */
export class Retention {
  private readonly timer: NodeJS.Timeout;
  private stopped = false;
  private running: Promise<void>;

  constructor(private readonly context: FleetContext) {
    this.running = this.tidy();
    this.timer = setInterval(() => {
      this.running = this.tidy();
    }, onceADay).unref();
  }

  /** This process has become the one that sees to records. */
  again(): void {
    this.running = this.running.then(() => this.tidy());
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearInterval(this.timer);
    await this.running;
  }

  private async tidy(): Promise<void> {
    try {
      await this.removeStrays();
      // Records are everybody's; one sees to them.
      if (!this.context.isLead()) return;
      await this.removeOld();
      await this.removeDeliveries();
      await this.removeDueTimes();
    } catch (error) {
      this.context.trouble("old jobs could not be removed", error);
    }
  }

  private async removeOld(): Promise<void> {
    const { age, jobs_per_agent: keepPerAgent } = this.context.fleet().fleet.retention;
    const finishedBefore = new Date(Date.now() - Math.max(age, this.needed()));
    while (!this.stopped) {
      const ids = await this.context.state.jobs.prune({
        finishedBefore,
        keepPerAgent,
        limit: atATime,
      });
      for (const id of ids) await this.removeFolder(id);
      if (ids.length < atATime) return;
      await breathe();
    }
  }

  /** What is spent of a day is counted from its jobs. */
  private needed(): number {
    const { fleet, agents } = this.context.fleet();
    const budgets = [fleet.budget, ...agents.map(({ budget }) => budget)];
    return budgets.some((budget) => Object.keys(budget).length > 0) ? longestDay : 0;
  }

  private async removeDueTimes(): Promise<void> {
    const before = new Date(Date.now() - this.context.fleet().fleet.retention.age);
    while (!this.stopped && (await this.context.state.schedules.prune(before, atATime)) > 0) {
      await breathe();
    }
  }

  private async removeDeliveries(): Promise<void> {
    const { age, deliveries: keep } = this.context.fleet().fleet.retention;
    const receivedBefore = new Date(Date.now() - age);
    const which = { receivedBefore, keep, limit: atATime };
    while (!this.stopped && (await this.context.state.deliveries.prune(which)) === atATime) {
      await breathe();
    }
  }

  /** A folder whose record is gone was being removed when we were last stopped. */
  private async removeStrays(): Promise<void> {
    const folders = await readdir(join(this.context.state.stateDir, "jobs")).catch(() => []);
    for (const [index, id] of folders.entries()) {
      if (this.stopped) return;
      // There may be a hundred thousand, and the store answers without a pause.
      if (index % atATime === 0) await breathe();
      const isStray = id.startsWith("job-") && !(await this.context.state.jobs.get(id));
      if (isStray) await this.removeFolder(id);
    }
  }

  private async removeFolder(id: string): Promise<void> {
    await rm(this.context.state.jobDir(id), { recursive: true, force: true });
  }
}
