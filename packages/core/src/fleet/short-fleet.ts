import type { Environment } from "../config/environment.ts";
import type { Fleet, LoadedFleet } from "../config/load.ts";
import { UserError } from "../errors/user-error.ts";
import { type Admission, admit, type TriggerRequest } from "../queue/admit.ts";
import { runTokenOf } from "../runner/run-order.ts";
import { sweepRun } from "../runner/sweep/sweep-run.ts";
import type { Job } from "../state/job.ts";
import { acquireLock, type Lock } from "../state/lock.ts";
import { StateManager } from "../state/state-manager.ts";
import { type JobWatch, performJob } from "./perform-job.ts";

export interface ShortFleetOptions {
  /** Called once when another process holds the state and we wait for it. */
  onWait?: () => void;
  signal: AbortSignal;
}

/** A fleet for the length of one command: it takes the lock, admits, runs and records. */
export class ShortFleet {
  private constructor(
    readonly fleet: Fleet,
    readonly state: StateManager,
    private readonly environment: Environment,
    private readonly lock: Lock,
  ) {}

  static async open(
    { fleet, environment }: LoadedFleet,
    options: ShortFleetOptions,
  ): Promise<ShortFleet> {
    const lock = await waitForLock(fleet.stateDir, options);
    try {
      const state = await new StateManager(fleet.stateDir).open();
      return new ShortFleet(fleet, state, environment, lock);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  admit(request: TriggerRequest): Promise<Admission> {
    return admit(this.state, this.fleet.agents, request);
  }

  async run(
    job: Job,
    options: { watch?: JobWatch; partialMessages?: boolean; signal: AbortSignal },
  ): Promise<Job> {
    const agent = this.fleet.agents.find((one) => one.name === job.agent);
    if (!agent) throw new Error(`job ${job.id} is for an agent that is not here`);
    const { watch, ...rest } = options;
    const claudePath = this.fleet.claude_path;
    const { state, environment } = this;
    return performJob({ state, job, agent, environment, claudePath, ...rest }, watch);
  }

  /** Ends all that belongs to a job which does not stop by itself; its run then ends and is recorded. */
  async force(job: Job): Promise<void> {
    await sweepRun(runTokenOf({ jobId: job.id, attempt: job.attempts + 1 }));
  }

  async close(): Promise<void> {
    await this.state.close();
    this.lock.release();
  }
}

const pollEvery = 200;

async function waitForLock(stateDir: string, { onWait, signal }: ShortFleetOptions): Promise<Lock> {
  for (let told = false; ; told = true) {
    try {
      return acquireLock(stateDir);
    } catch (error) {
      const isBusy = error instanceof UserError && error.code === "fleet_running";
      if (!isBusy || signal.aborted) throw error;
      if (!told) onWait?.();
      await new Promise((resolve) => setTimeout(resolve, pollEvery));
    }
  }
}
