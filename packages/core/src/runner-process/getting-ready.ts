import { JobExecutor, type OpenedAttempt } from "../runner/job-executor.ts";
import { RuntimeFactory } from "../runner/runtime/factory.ts";
import type { SpawnClaude } from "../runner/runtime/spawn.ts";
import type { RunnerAssignment } from "./contract.ts";

/**
 * What is opened for an attempt while it is being recorded: the doors of its run and its log. Nothing
 * is claimed or started, so it can be given up as if it had never been.
 */
export class GettingReady {
  readonly executor: JobExecutor;
  readonly opened: Promise<OpenedAttempt>;

  constructor({ stateDir, order, environment, spare }: RunnerAssignment, spawn?: SpawnClaude) {
    const runtime = RuntimeFactory.create(order.agent, { stateDir, environment });
    this.executor = new JobExecutor(runtime, { stateDir, environment, spare, spawn });
    this.opened = this.executor.open(order);
    // What is wrong is told by the attempt, if it comes.
    this.opened.catch(() => undefined);
  }

  async giveUp(): Promise<void> {
    const opened = await this.opened.catch(() => undefined);
    if (opened?.surrounds.kind === "open") await opened.surrounds.run.close();
    await opened?.output.close();
  }
}
