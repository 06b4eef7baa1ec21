import { raceTimeout } from "@herdctl/protocol";
import type { StartedRunner } from "./runner-pool.ts";

/** How long a runner may take to end what it holds. */
const graceMs = 10_000;

/** Ends runners that get no further job, and kills those that do not exit in time. */
export class EndingRunners {
  private readonly ending = new Set<Promise<void>>();

  /** `onExit` is called after the exit of each runner, whatever its cause. */
  constructor(private readonly onExit: () => Promise<void>) {}

  /** A runner whose input closes ends its `claude` and then itself. */
  end(runner: StartedRunner): void {
    runner.release();
    const ended = this.awaitExit(runner).finally(() => this.ending.delete(ended));
    this.ending.add(ended);
  }

  /** Resolves when all of them have exited. */
  async stop(): Promise<void> {
    await Promise.all(this.ending);
  }

  private async awaitExit({ pid, exited }: StartedRunner): Promise<void> {
    await raceTimeout(exited, graceMs, () => kill(pid));
    await exited;
    await this.onExit();
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited in the meantime.
  }
}
