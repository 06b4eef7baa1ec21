import { randomUUID } from "node:crypto";
import type { Environment, Fleet, ResolvedAgent } from "@herdctl/config";
import { dropUndefined } from "../../lib/drop-undefined.ts";
import { RefillTimer } from "../../lib/refill-timer.ts";
import type { EndingRunners } from "../../runner-pool/ending-runners.ts";
import type { RunnerPool, StartedRunner } from "../../runner-pool/runner-pool.ts";
import type { RunnerLease } from "../../store/files/lease-file.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { agentConfigHash } from "./agent-config-hash.ts";
import { preparePrestartOrder } from "./prepare-run.ts";

/**
 * Delays the next start until the run that took the last process is well under way, because both
 * need the CPU.
 */
const refillDelayMs = 1_000;
const failureDelayMs = 30_000;

export interface PrestartedProcess {
  sessionId: string;
  runner: StartedRunner;
}

interface Entry extends PrestartedProcess {
  agent: string;
  configHash: string | undefined;
}

export interface PrestartedOptions {
  readonly state: StateManager;
  readonly runners: RunnerPool;
  readonly endingRunners: EndingRunners;
  lease(): RunnerLease | undefined;
  fleet(): Fleet;
  environment(): Environment;
  reportError(message: string, cause?: unknown): void;
}

/**
 * Runners with a started `claude` for the next fresh session of agents with `keep_alive.processes`.
 */
export class PrestartedProcesses {
  private kept: Entry[] = [];
  private readonly refill = new RefillTimer(
    () => this.agentsToFill().length > 0,
    () => this.fill(),
  );

  constructor(private readonly options: PrestartedOptions) {}

  get count(): number {
    return this.kept.length;
  }

  start(): void {
    this.refill.start();
  }

  take(agent: string): PrestartedProcess | undefined {
    const found = this.kept.find((entry) => entry.agent === agent);
    if (!found) return undefined;
    this.kept = this.kept.filter((entry) => entry !== found);
    this.refill.schedule(refillDelayMs);
    return found;
  }

  /** Ends the processes whose configuration has changed. */
  dropStale(): void {
    const isStale = ({ agent, configHash }: Entry) =>
      agentConfigHash(this.options, agent) !== configHash;
    for (const entry of this.kept.filter(isStale)) this.drop(entry);
    this.refill.schedule(0);
  }

  async stop(): Promise<void> {
    await this.refill.stop();
    for (const entry of this.kept) this.drop(entry);
  }

  private drop(entry: Entry): void {
    this.kept = this.kept.filter((other) => other !== entry);
    this.options.endingRunners.end(entry.runner);
  }

  private async fill(): Promise<void> {
    try {
      for (const agent of this.agentsToFill()) {
        const missing = agent.keep_alive.processes - this.countOf(agent);
        for (let started = 0; started < missing && !this.refill.isStopped; started += 1)
          await this.startOne(agent);
      }
    } catch (error) {
      this.options.reportError("Failed to start `claude` ahead of a job", error);
      this.refill.schedule(failureDelayMs);
    }
  }

  private async startOne(agent: ResolvedAgent): Promise<void> {
    const { state, runners, fleet } = this.options;
    const environment = dropUndefined(this.options.environment());
    const configHash = agentConfigHash(this.options, agent.name);
    const claudePath = fleet().claude_path;
    const jobId = `warm-${randomUUID()}`;
    const order = await preparePrestartOrder({ state, agent, environment, claudePath }, jobId);
    // If the order cannot be prepared, the next job reports the problem.
    if (!order || this.refill.isStopped) return;
    const lease = this.options.lease();
    const runner = runners.take({
      stateDir: state.stateDir,
      order,
      environment,
      lease,
      isPrewarm: true,
    });
    const kept = { agent: agent.name, configHash, sessionId: order.session.sessionId, runner };
    this.kept.push(kept);
    void runner.exited.then(() => {
      if (!this.kept.includes(kept)) return;
      this.drop(kept);
      this.refill.schedule(failureDelayMs);
    });
  }

  private agentsToFill(): ResolvedAgent[] {
    return this.options
      .fleet()
      .agents.filter((agent) => agent.keep_alive.processes > this.countOf(agent));
  }

  private countOf({ name }: ResolvedAgent): number {
    return this.kept.filter(({ agent }) => agent === name).length;
  }
}
