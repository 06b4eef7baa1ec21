import { outputSchemaOf } from "../config/output-schema.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { SpareContainer } from "../runner/container/spare.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { StartedRunner } from "../runner-process/spare.ts";
import type { Job } from "../state/job.ts";
import { agentPrint } from "./agent-print.ts";
import type { FleetContext } from "./context.ts";
import type { WarmClaude } from "./warm-claudes.ts";

/** Who carries out an attempt: a runner that waits, one started ahead, or a spare. Chosen once. */
export class ChosenRunner {
  private warm: WarmClaude | undefined;
  private container: SpareContainer | undefined;
  private chosen: { runner: StartedRunner; order: RunOrder; wasUp: boolean } | undefined;

  constructor(
    private readonly context: FleetContext,
    private readonly job: Pick<Job, "id" | "schedule">,
  ) {}

  /** The spare container that goes with the job. */
  get spare(): SpareContainer | undefined {
    return this.container;
  }

  /** One is started as most jobs need it: for those that are watched or owe a report it is another. */
  takeWarm(agent: ResolvedAgent): WarmClaude | undefined {
    const { id, schedule } = this.job;
    if (this.context.isWatched(id) || outputSchemaOf(agent, schedule)) return undefined;
    this.warm ??= this.context.warm.take(agent.name);
    return this.warm;
  }

  /** The one that waits for this turn, whatever it is to make of it; else a spare. */
  for(order: RunOrder): StartedRunner {
    if (this.chosen) return this.chosen.runner;
    const { spares, waiting, spareContainers } = this.context;
    const { kind, sessionId } = order.session;
    const waits = kind === "resume" ? waiting.take(sessionId) : this.warm?.runner;
    // A spare goes with its job, so it is none for a `claude` that may stay.
    if (!waits && !order.live) this.container = spareContainers.take(order.agent.name);
    const runner = waits ?? spares.reserve();
    this.chosen = { runner, order, wasUp: waits !== undefined };
    return runner;
  }

  /**
   * One that waits compares first; what stays up is opened for more than this turn; and the doors of
   * a container are files, which nobody would look for if it never began.
   */
  mayPrepare({ live, place }: RunOrder): boolean {
    return !this.chosen?.wasUp && !live && place !== "docker";
  }

  /** Nobody is left waiting for an order that does not come. */
  async letGo(): Promise<void> {
    const runner = this.chosen?.runner ?? this.warm?.runner;
    if (runner) this.context.waiting.letGo(runner);
    await this.removeSpare();
  }

  /** There is nobody who would bring it another turn. */
  leave(): void {
    this.chosen?.runner.letGo();
  }

  end(): void {
    if (this.chosen) this.context.waiting.letGo(this.chosen.runner);
  }

  /** After a turn that went well it waits for the next; it ends by itself otherwise. */
  turnOver(sessionId: string, wentWell: boolean): void {
    if (!this.chosen?.order.live && !this.chosen?.wasUp) return;
    const { runner, order } = this.chosen;
    const { waiting } = this.context;
    const { name: agent, session } = order.agent;
    const print = agentPrint(this.context, agent) ?? "";
    if (!order.live || !wentWell) waiting.letGo(runner);
    else waiting.keep({ sessionId, agent, print, runner, idle: session.live });
  }

  async removeSpare(): Promise<void> {
    if (this.container) await this.context.spareContainers.remove(this.container);
  }
}
