import { outputSchemaOf, type ResolvedAgent } from "@herdctl/config";
import type { Job } from "@herdctl/protocol";
import type { RunOrder } from "../../runner/contract/run-order.ts";
import type { StartedRunner } from "../../runner-pool/runner-pool.ts";
import type { JobServices } from "../services.ts";
import { agentConfigHash } from "./agent-config-hash.ts";
import type { PrestartedProcess } from "./prestarted-processes.ts";

/** The runner process of one attempt: an idle one of the session, a prestarted one, or a new one. */
export class RunnerSlot {
  private prestarted: PrestartedProcess | undefined;
  private acquired: { runner: StartedRunner; order: RunOrder; isReused: boolean } | undefined;

  constructor(
    private readonly services: JobServices,
    private readonly job: Pick<Job, "id" | "schedule">,
  ) {}

  /** Prestarted processes cannot serve watched jobs or jobs that must submit a report. */
  takePrestarted(agent: ResolvedAgent): PrestartedProcess | undefined {
    const { id, schedule } = this.job;
    if (this.services.isWatched(id) || outputSchemaOf(agent, schedule)) return undefined;
    this.prestarted ??= this.services.prestartedProcesses.take(agent.name);
    return this.prestarted;
  }

  acquire(order: RunOrder): StartedRunner {
    if (this.acquired) return this.acquired.runner;
    const { runners, idleRunners } = this.services;
    const { kind, sessionId } = order.session;
    const reused = kind === "resume" ? idleRunners.take(sessionId) : this.prestarted?.runner;
    const runner = reused ?? runners.reserve();
    this.acquired = { runner, order, isReused: reused !== undefined };
    return runner;
  }

  /** Ends the runner if it gets no order, or may no longer execute it. */
  end(): void {
    const runner = this.acquired?.runner ?? this.prestarted?.runner;
    if (runner) this.services.endingRunners.end(runner);
  }

  /** Leaves the runner to the next fleet process. */
  detach(): void {
    this.acquired?.runner.release();
  }

  /** Keeps the runner for the next turn if this one succeeded, otherwise ends it. */
  onTurnEnded(sessionId: string, isSuccessful: boolean): void {
    if (!this.acquired?.order.keepAlive && !this.acquired?.isReused) return;
    const { runner, order } = this.acquired;
    const { name: agent, keep_alive } = order.agent;
    if (!order.keepAlive || !isSuccessful) {
      this.services.endingRunners.end(runner);
      return;
    }
    const agentHash = agentConfigHash(this.services, agent) ?? "";
    const idleTimeoutMs = keep_alive.sessions;
    this.services.idleRunners.keep({ sessionId, agent, agentHash, runner, idleTimeoutMs });
  }
}
