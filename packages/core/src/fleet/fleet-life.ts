import type { ChatPlatforms } from "../chat/connector.ts";
import type { Environment } from "../config/environment.ts";
import { type LoadedFleet, loadFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import type { Candidate } from "../queue/admit.ts";
import { sweepLiveFolders } from "../runner/live/live-folder.ts";
import type { SparePool } from "../runner-process/spare.ts";
import type { Actor } from "../state/identity.ts";
import { applyConfig } from "./apply-config.ts";
import { Audit } from "./audit.ts";
import {
  type AuditedFleet,
  ownActor,
  processActor,
  recordConfig,
  recordStart,
  recordStop,
} from "./audit-lifecycle.ts";
import { cancelLeftOvers } from "./cancel-job.ts";
import { ConfigWatch } from "./config-watch.ts";
import { ContainerWatch } from "./container-watch.ts";
import type { FleetControl, FleetStatus, ShutdownOptions } from "./control.ts";
import { drain } from "./drain.ts";
import { runErrand } from "./errands/run-errand.ts";
import { EventHub } from "./event-hub.ts";
import { FleetAccess } from "./fleet-access.ts";
import { openChat } from "./fleet-chat.ts";
import { nodeHands } from "./nodes/hands.ts";
import { Lead } from "./nodes/lead.ts";
import { closeLines, openLines } from "./nodes/lines.ts";
import type { NodeOptions } from "./nodes/node-options.ts";
import { sweepMoved } from "./nodes/sweep-moved.ts";
import { type FleetParts, openParts } from "./parts.ts";
import { Problems } from "./problems.ts";
import { type Recovered, recover } from "./recovery.ts";
import { Retention } from "./retention.ts";
import { ScheduleClock } from "./schedule-clock.ts";
import { triggerAll } from "./trigger-job.ts";

export interface FleetManagerOptions {
  /** The fleet file. */
  file: string;
  env?: Environment;
  /** What `loadFleet` gave for that file, where it is known already. */
  loaded?: LoadedFleet;
  version?: string;
  /** What this node is among those that share a store; for a fleet that has one only. */
  node?: NodeOptions;
  /**
   * For a command that must not take on the whole queue: starts only what is triggered here, and
   * heeds no pause, since whoever triggers is there to decide.
   */
  onlyOwn?: boolean;
  /** Nobody can be asked: what jobs that are triggered here ask is denied at once. */
  unattended?: boolean;
  /** Runners that are started already. They are stopped with the fleet. */
  spares?: SparePool;
  /** How the platforms of chats are reached; without one its agents are not in it. */
  chat?: ChatPlatforms;
  /** What a person should know but no record tells. */
  onTrouble?: (message: string, cause?: unknown) => void;
}

/** A fleet from its first breath to its last: lock, state and configuration, and who may use them when. */
export class FleetLife {
  readonly hub = new EventHub((error) => this.trouble("a listener failed", error));
  readonly startedAt = new Date();
  readonly problems = new Problems(this.hub);
  readonly audit = new Audit({
    store: () => this.opened.state.audit,
    trouble: (message, cause) => this.trouble(message, cause),
  });
  readonly access = new FleetAccess({
    audit: this.audit,
    state: () => this.opened.state,
    agentNames: () => this.config.fleet.agents.map(({ name }) => name),
    trouble: (message, cause) => this.trouble(message, cause),
  });
  private readonly hurry = new AbortController();
  private loaded: LoadedFleet | undefined;
  private parts: FleetParts | undefined;
  private phase: "starting" | "running" | "draining" = "starting";
  private opening: Promise<void> | undefined;
  private starting: Promise<Recovered> | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly options: FleetManagerOptions,
    private readonly actAs: (actor: Actor) => Pick<FleetControl, "trigger" | "cancel" | "answer">,
    private readonly url: () => string | null,
  ) {}

  async initialize(): Promise<void> {
    if (this.stopping) throw stopped();
    this.opening ??= this.open().catch((error) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  async start(): Promise<Recovered> {
    if (this.stopping) throw stopped();
    this.starting ??= this.begin().catch((error) => {
      this.starting = undefined;
      throw this.stopping ? stopped(error) : error;
    });
    return this.starting;
  }

  /** Whoever asks again and leaves no time cuts short how long the first one wanted to wait. */
  shutdown(options: ShutdownOptions = {}, actor: Actor = processActor()): Promise<void> {
    if (this.stopping && options.drainMs === 0) this.hurry.abort();
    this.stopping ??= this.close(options, actor);
    return this.stopping;
  }

  /** What fails because the fleet stopped meanwhile failed for that reason and no other. */
  async ask<T>(work: (parts: FleetParts) => Promise<T>): Promise<T> {
    const parts = this.opened;
    try {
      return await work(parts);
    } catch (error) {
      throw this.parts === parts ? error : stopped(error);
    }
  }

  get opened(): FleetParts {
    if (this.parts) return this.parts;
    throw this.stopping ? stopped() : unstarted();
  }

  get config(): LoadedFleet {
    if (this.loaded) return this.loaded;
    throw unstarted();
  }

  get condition(): Pick<FleetStatus["fleet"], "state" | "problem"> {
    const state = this.problems.has("state") ? "refusing" : this.phase;
    return { state, problem: this.problems.worst };
  }

  get takesWork(): boolean {
    return this.phase !== "draining";
  }

  agent(name: string): ResolvedAgent {
    const found = this.config.fleet.agents.find((agent) => agent.name === name);
    if (found) return found;
    throw new UserError("usage", `there is no agent \`${name}\``);
  }

  /** `rollsOut`: what is read here is in force on all nodes from now on. */
  reload(rollsOut: boolean, actor: Actor = ownActor): Promise<void> {
    return this.ask(async (parts) => {
      this.readConfig();
      await applyConfig(parts, rollsOut);
      await recordConfig(this.audited(parts), actor);
    });
  }

  /** The configuration is checked first and swapped at once; a wrong one leaves the old in force. */
  readConfig(): void {
    try {
      this.loaded = loadFleet(this.options.file, this.options.env);
      this.problems.set("configuration", undefined);
    } catch (error) {
      this.problems.set("configuration", error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  private async open(): Promise<void> {
    this.loaded = this.options.loaded ?? loadFleet(this.options.file, this.options.env);
    this.parts = await openParts({
      hub: this.hub,
      problems: this.problems,
      loaded: () => this.config,
      spares: this.options.spares,
      onlyOwn: this.options.onlyOwn ?? false,
      unattended: this.options.unattended ?? false,
      version: this.options.version ?? "0.0.0",
      node: this.options.node ?? {},
      errand: (errand) => runErrand(this.opened, errand),
      trouble: (message, cause) => this.trouble(message, cause),
    });
  }

  private async begin(): Promise<Recovered> {
    await this.initialize();
    const parts = this.opened;
    const recovered = await recover(parts.context, parts.dispatcher);
    await sweepLiveFolders(parts.state.stateDir);
    if (parts.nodes) await sweepMoved(parts.state, parts.nodes.id);
    if (this.stopping) return recovered;
    if (!parts.nodes) await cancelLeftOvers(parts);
    if (this.stopping) return recovered;
    await openLines(parts, () => this.reload(false));
    if (this.stopping) return recovered;
    this.phase = "running";
    parts.dispatcher.start();
    if (!parts.nodes) {
      parts.hooks.start();
      parts.work.start();
    }
    parts.containers = new ContainerWatch(parts.context);
    if (!this.options.onlyOwn) {
      parts.context.warm.start();
      await this.keepTime(parts);
    }
    if (!this.options.onlyOwn) await recordStart(this.audited(parts));
    if (!this.stopping) this.takePart(parts);
    return recovered;
  }

  /** Among several nodes what only one may do begins when this one is told that it leads. */
  private takePart(parts: FleetParts): void {
    const { nodes, context, dispatcher, state } = parts;
    if (!nodes || !state.shared) return;
    const look = () => {
      parts.hooks.kick();
      parts.work.kick();
    };
    const lead = new Lead(
      { open: () => this.openDesks(parts), look, close: () => this.closeDesks(parts) },
      context.trouble,
    );
    context.hub.onMissed(look);
    parts.lead = lead;
    const { shared } = state;
    const takesWork = () => this.takesWork;
    const replan = async () => parts.clock?.replan();
    nodes.serve(nodeHands({ context, dispatcher, shared, lead, takesWork, replan }));
  }

  private async openDesks(parts: FleetParts): Promise<void> {
    await cancelLeftOvers(parts);
    parts.hooks.start();
    parts.work.start();
    if (this.options.onlyOwn) return;
    parts.retention?.again();
    await parts.clock?.replan();
    this.joinChats(parts);
  }

  /** What is cut off is taken up by the next lead. */
  private async closeDesks(parts: FleetParts): Promise<void> {
    const { hooks, chat } = parts;
    parts.hooks = parts.newHooks();
    parts.chat = undefined;
    await Promise.all([hooks.stop(0), chat?.stop(0), parts.clock?.replan()]);
  }

  /** What a fleet does by itself, and a command that runs alone does not. */
  private async keepTime(parts: FleetParts): Promise<void> {
    const { context } = parts;
    parts.retention = new Retention(context);
    parts.watch = new ConfigWatch({
      since: this.startedAt,
      loaded: () => this.config,
      reload: () => this.reload(true),
    });
    parts.watch.follow();
    const trigger = (candidates: readonly Candidate[]) => triggerAll(parts, candidates);
    const readPlans = () => parts.plans.read();
    parts.clock = new ScheduleClock({ context, trigger, readPlans });
    await parts.clock.replan();
    if (!this.stopping && !parts.nodes) this.joinChats(parts);
  }

  private audited({ state, nodes }: FleetParts): AuditedFleet {
    const { audit, config, options } = this;
    return { audit, state, loaded: config, version: options.version ?? "0.0.0", node: nodes?.id };
  }

  private joinChats(parts: FleetParts): void {
    const { actAs, problems, url } = this;
    const platforms = this.options.chat ?? {};
    parts.chat = openChat(parts, { platforms, problems, url, actAs });
    parts.chat.start();
  }

  private async close(options: ShutdownOptions, actor: Actor): Promise<void> {
    const hasRun = this.phase === "running" && !this.options.onlyOwn;
    this.phase = "draining";
    await this.opening?.catch(() => undefined);
    if (this.parts) {
      if (hasRun) await recordStop(this.audit, actor, options);
      await this.parts.lead?.stop();
      const { dispatcher, context, hooks, work, state, lock, spares, nodes } = this.parts;
      const { retention, containers, clock, watch, chat } = this.parts;
      this.hub.emit({ type: "fleet:stopping" });
      dispatcher.halt();
      await watch?.stop();
      await clock?.stop();
      if (!options.detach) await drain(dispatcher, options, this.hurry.signal);
      const isIdle = dispatcher.active.size === 0;
      await dispatcher.leave();
      await closeLines(this.parts);
      await Promise.all([hooks, work].map((desk) => desk.stop(this.patience(options))));
      await chat?.stop(options.detach ? 0 : this.patience(options));
      await retention?.stop();
      context.budgets.stop();
      await context.warm.stop();
      await context.waiting.stop();
      // Last, since a runner that had to be killed leaves its container.
      await containers?.stop();
      await context.spareContainers.stop();
      await spares.stop();
      // Jobs that go on keep the node's name until the next process of it, or until its lease ends.
      await nodes?.stop(isIdle);
      this.parts = undefined;
      await state.close();
      lock.release();
    }
    this.hub.close();
  }

  /** How long hooks are waited for: a short fleet has nobody who would go on with its own. */
  private patience({ drainMs }: ShutdownOptions): number {
    if (drainMs === 0) return 0;
    return this.options.onlyOwn ? longestHooks : politeHooks;
  }

  private trouble(message: string, cause?: unknown): void {
    this.options.onTrouble?.(message, cause);
  }
}

const politeHooks = 10_000;
const longestHooks = 10 * 60_000;

function unstarted(): UserError {
  return new UserError("fleet_unreachable", "the fleet has not been started");
}

function stopped(cause?: unknown): UserError {
  return new UserError("fleet_unreachable", "the fleet has stopped", { cause });
}
