import { sweepContainers } from "../runner/container/sweep-containers.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import type { Job } from "../state/job.ts";
import type { FleetContext } from "./context.ts";

const tryAgainAfter = 10_000;

/**
 * Removes containers of this fleet that nobody uses any more: at the start, and after a run whose
 * engine went away. An engine that does not answer is asked again until it does. Spares are made
 * after the first look, so that none is taken for one that an earlier fleet left.
 */
export class ContainerWatch {
  private timer: NodeJS.Timeout | undefined;
  private sweeping: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly context: FleetContext) {
    if (!this.hasContainers()) return;
    this.sweep();
    void this.sweeping?.then(() => context.spareContainers.start());
  }

  /** Something may have been left. */
  sweep(): void {
    clearTimeout(this.timer);
    if (this.stopped) return;
    this.sweeping ??= this.attempt().finally(() => {
      this.sweeping = undefined;
    });
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.sweeping;
  }

  private async attempt(): Promise<void> {
    const { state } = this.context;
    try {
      const manager = await ContainerManager.connect(this.context.environment());
      await sweepContainers(manager, state.stateDir, async (id, containerId) => {
        if (this.context.spareContainers.has(containerId) && id === "") return false;
        const job = await state.jobs.get(id);
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
