import { randomUUID } from "node:crypto";
import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { prepareWarm } from "../runner/prepare-run.ts";
import type { SparePool, StartedRunner } from "../runner-process/spare.ts";
import type { WaitingRunners } from "../runner-process/waiting-runners.ts";
import type { RunnerLease } from "../state/lease-file.ts";
import type { StateManager } from "../state/state-manager.ts";
import { agentPrint } from "./agent-print.ts";
import { definedOnly } from "./defined-only.ts";
import { Refill } from "./refill.ts";

/** A new one leaves the processor to the run that took the last one until that is well under way. */
const pauseAfterTaking = 1_000;
const pauseAfterFailure = 30_000;

export interface WarmClaude {
  sessionId: string;
  runner: StartedRunner;
}

interface Kept extends WarmClaude {
  agent: string;
  print: string | undefined;
}

interface WarmContext {
  readonly state: StateManager;
  readonly spares: SparePool;
  readonly waiting: WaitingRunners;
  lease(): RunnerLease | undefined;
  fleet(): Fleet;
  environment(): Environment;
  trouble(message: string, cause?: unknown): void;
}

/** Runners with a started `claude` for the next fresh session of each agent that wants some (`warm`). */
export class WarmClaudes {
  private kept: Kept[] = [];
  private readonly refill = new Refill(
    () => this.wanting().length > 0,
    () => this.fill(),
  );

  constructor(private readonly context: WarmContext) {}

  start(): void {
    this.refill.start();
  }

  take(agent: string): WarmClaude | undefined {
    const found = this.kept.find((one) => one.agent === agent);
    if (!found) return undefined;
    this.kept = this.kept.filter((one) => one !== found);
    this.refill.in(pauseAfterTaking);
    return found;
  }

  /** The configuration is another: those that are not what they would be now go. */
  adjust(): void {
    const isStale = ({ agent, print }: Kept) => agentPrint(this.context, agent) !== print;
    for (const one of this.kept.filter(isStale)) this.drop(one);
    this.refill.in(0);
  }

  async stop(): Promise<void> {
    await this.refill.stop();
    for (const one of this.kept) this.drop(one);
  }

  private drop(one: Kept): void {
    this.kept = this.kept.filter((other) => other !== one);
    this.context.waiting.letGo(one.runner);
  }

  private async fill(): Promise<void> {
    try {
      for (const agent of this.wanting()) {
        const missing = agent.warm - this.count(agent);
        for (let made = 0; made < missing && !this.refill.isStopped; made += 1)
          await this.make(agent);
      }
    } catch (error) {
      this.context.trouble("no `claude` could be started ahead of its job", error);
      this.refill.in(pauseAfterFailure);
    }
  }

  private async make(agent: ResolvedAgent): Promise<void> {
    const { state, spares, fleet } = this.context;
    const environment = definedOnly(this.context.environment());
    const print = agentPrint(this.context, agent.name);
    const claudePath = fleet().claude_path;
    const jobId = `warm-${randomUUID()}`;
    const order = await prepareWarm({ state, agent, environment, claudePath }, jobId);
    // What is wrong with it is told to the job that comes.
    if (!order || this.refill.isStopped) return;
    const lease = this.context.lease();
    const runner = spares.take({
      stateDir: state.stateDir,
      order,
      environment,
      lease,
      ahead: true,
    });
    const kept = { agent: agent.name, print, sessionId: order.session.sessionId, runner };
    this.kept.push(kept);
    void runner.exited.then(() => {
      if (!this.kept.includes(kept)) return;
      this.drop(kept);
      this.refill.in(pauseAfterFailure);
    });
  }

  private wanting(): ResolvedAgent[] {
    return this.context.fleet().agents.filter((agent) => agent.warm > this.count(agent));
  }

  private count({ name }: ResolvedAgent): number {
    return this.kept.filter(({ agent }) => agent === name).length;
  }
}
