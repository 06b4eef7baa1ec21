import { sweepContainers } from "../runner/container/sweep-containers.ts";
import { isHeld } from "../runner/live/live-folder.ts";
import { runTokenOf } from "../runner/run-order.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import type { Job } from "../state/job.ts";
import type { FleetContext } from "./context.ts";

const tryAgainAfter = 10_000;

/**
 * Removes containers of this fleet that nobody uses any more: at the start, after a run whose engine
 * went away, and after the end of a runner whose `claude` may have waited in one. An engine that does
 * not answer is asked again until it does. Spares are made after the first look, so that none is
 * taken for one that an earlier fleet left.
 */
export class ContainerWatch {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private stopped = false;
  private isAskedAgain = false;

  constructor(private readonly context: FleetContext) {
    if (!this.hasContainers()) return;
    this.sweep();
    void this.sweeping?.then(() => context.spareContainers.start());
  }

  /** Something may have been left. */
  sweep(): void {
    clearTimeout(this.timer);
    if (this.stopped || !this.hasContainers()) return;
    // What was left just now may come too late for the look that is being taken.
    this.isAskedAgain = this.sweeping !== undefined;
    this.sweeping ??= this.look().finally(() => {
      this.sweeping = undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private async look(): Promise<void> {
    await this.attempt();
    if (!this.isAskedAgain) return;
    this.isAskedAgain = false;
    await this.look();
  }

  private async attempt(): Promise<void> {
    const { state } = this.context;
    try {
      const manager = await ContainerManager.connect(this.context.environment());
      await sweepContainers(manager, state.stateDir, async (run, containerId) => {
        if (!run) return !this.context.spareContainers.has(containerId);
        if (isHeld(state.stateDir, runTokenOf(run))) return false;
        const job = await state.jobs.get(run.jobId);
        return job === undefined || !isUnderWay(job);
      });
    } catch {
      if (!this.stopped) this.timer = setTimeout(() => this.sweep(), tryAgainAfter).unref();
    }
  }

  private hasContainers(): boolean {
    return this.context.fleet().agents.some(({ docker }) => docker.enabled);
  }
}

/** One that waits for a person has a runner that lives. */
function isUnderWay({ status, due_at }: Job): boolean {
  return status === "running" || (status === "waiting" && due_at === null);
}
