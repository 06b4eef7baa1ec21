import { type Environment, type LoadedFleet, loadFleet, type ResolvedAgent } from "@herdctl/config";
import { type FleetStatus, Mutex, type ShutdownOptions, UserError } from "@herdctl/protocol";
import type { NodeOptions } from "../cluster/node-identity.ts";
import { removeMovedRuns } from "../cluster/remove-moved-runs.ts";
import type { Candidate } from "../jobs/admission/admit.ts";
import { triggerAll } from "../jobs/admission/trigger-job.ts";
import { resumeChainCancellations } from "../jobs/attempts/cancel-job.ts";
import { agentConfigHash } from "../jobs/attempts/prestarted-processes.ts";
import { type RecoveryResult, recover } from "../jobs/attempts/recovery.ts";
import { drain } from "../jobs/dispatch/dispatcher.ts";
import { EventHub } from "../lib/event-hub.ts";
import { FleetProblems } from "../lib/fleet-problems.ts";
import { version } from "../lib/version.ts";
import { removeStaleKeepAliveFolders } from "../runner/contract/paths.ts";
import type { RunnerPool } from "../runner-pool/runner-pool.ts";
import type { Actor } from "../store/model/identity.ts";
import type { ChatPlatforms } from "../triggers/chat/connector.ts";
import { ScheduleClock } from "../triggers/schedules/schedule-clock.ts";
import { FleetAccess } from "./access.ts";
import {
  AuditLogWriter,
  type FleetAuditContext,
  processActor,
  recordConfigChange,
  recordStart,
  recordStop,
  systemActor,
} from "./audit-log-writer.ts";
import { ConfigWatcher } from "./config-watcher.ts";
import { Leadership } from "./leader-services.ts";
import {
  connectToCluster,
  createNodeLifecycleHandlers,
  disconnectFromCluster,
} from "./node-handlers.ts";
import { type FleetOperations, openChat } from "./open-chat.ts";
import { RetentionCleanup } from "./retention.ts";
import { SearchIndex } from "./search-index.ts";
import { FleetServices } from "./services.ts";
import { handleToolCall } from "./tool-calls/handle-tool-call.ts";

export interface FleetManagerOptions {
  /** Path of the fleet file. */
  file: string;
  env?: Environment;
  /** The result of `loadFleet` for that file, if it is already known. */
  loaded?: LoadedFleet;
  /** This node in a cluster; only for a fleet with a shared store. */
  node?: NodeOptions;
  /**
   * For a command that must not process the whole queue: starts only jobs that are triggered here,
   * and ignores pauses, because its user can decide.
   */
  ownJobsOnly?: boolean;
  /** No one can be asked: requests of jobs that are triggered here are denied immediately. */
  unattended?: boolean;
  /** Runners that are already started. They are stopped with the fleet. */
  runnerPool?: RunnerPool;
  /** Connectors of chat platforms. Without one, agents are not connected to that platform. */
  chat?: ChatPlatforms;
  /** Called with problems that people should know and that no record contains. */
  onError?: (message: string, cause?: unknown) => void;
}

/** The lifecycle of a fleet: lock, state and configuration, and when they may be used. */
export class FleetLifecycle {
  readonly hub = new EventHub((error) => this.reportError("An event listener failed", error));
  readonly startedAt = new Date();
  readonly problems = new FleetProblems(this.hub);
  readonly audit = new AuditLogWriter({
    store: () => this.runningServices.state.audit,
    reportError: (message, cause) => this.reportError(message, cause),
  });
  readonly access = new FleetAccess({
    audit: this.audit,
    state: () => this.runningServices.state,
    agentNames: () => this.config.fleet.agents.map(({ name }) => name),
    reportError: (message, cause) => this.reportError(message, cause),
  });
  /** Edits of the configuration run one after the other. */
  readonly editing = new Mutex();
  private readonly drainAbort = new AbortController();
  private loaded: LoadedFleet | undefined;
  private services: FleetServices | undefined;
  private phase: "starting" | "running" | "draining" = "starting";
  private opening: Promise<void> | undefined;
  private starting: Promise<RecoveryResult> | undefined;
  private stopping: Promise<void> | undefined;

  constructor(
    private readonly options: FleetManagerOptions,
    private readonly asActor: (actor: Actor) => FleetOperations,
    /** URL under which people reach the dashboard. */
    private readonly url: () => string | null,
  ) {}

  async initialize(): Promise<void> {
    if (this.stopping) throw stoppedError();
    this.opening ??= this.open().catch((error) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  async start(): Promise<RecoveryResult> {
    if (this.stopping) throw stoppedError();
    this.starting ??= this.startServices().catch((error) => {
      this.starting = undefined;
      throw this.stopping ? stoppedError(error) : error;
    });
    return this.starting;
  }

  /** A second `shutdown({ drainMs: 0 })` cancels the drain period of the first. */
  shutdown(options: ShutdownOptions = {}, actor: Actor = processActor()): Promise<void> {
    if (this.stopping && options.drainMs === 0) this.drainAbort.abort();
    this.stopping ??= this.close(options, actor);
    return this.stopping;
  }

  /** If the fleet stopped meanwhile, the error says so instead of naming a consequence. */
  async withServices<T>(work: (services: FleetServices) => Promise<T>): Promise<T> {
    const services = this.runningServices;
    try {
      return await work(services);
    } catch (error) {
      throw this.services === services ? error : stoppedError(error);
    }
  }

  get runningServices(): FleetServices {
    if (this.services) return this.services;
    throw this.stopping ? stoppedError() : notStartedError();
  }

  get config(): LoadedFleet {
    if (this.loaded) return this.loaded;
    throw notStartedError();
  }

  /** The environment that the configuration is read with, besides `.env`. */
  get environment(): Environment {
    return this.options.env ?? process.env;
  }

  get condition(): Pick<FleetStatus["fleet"], "state" | "problem"> {
    const state = this.problems.has("state") ? "refusing" : this.phase;
    return { state, problem: this.problems.worst };
  }

  get acceptsWork(): boolean {
    return this.phase !== "draining";
  }

  agent(name: string): ResolvedAgent {
    const found = this.config.fleet.agents.find((agent) => agent.name === name);
    if (found) return found;
    throw new UserError("agent_not_found", `there is no agent \`${name}\``);
  }

  /** `isFleetWide`: all nodes apply the configuration. */
  reload(isFleetWide: boolean, actor: Actor = systemActor): Promise<void> {
    return this.withServices(async (services) => {
      this.readConfig();
      await applyConfig(services, isFleetWide);
      await recordConfigChange(this.auditContext(services), actor);
    });
  }

  /**
   * The configuration is checked before it replaces the old one. An invalid one changes nothing.
   */
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
    this.services = await FleetServices.open({
      hub: this.hub,
      problems: this.problems,
      loaded: () => this.config,
      runners: this.options.runnerPool,
      ownJobsOnly: this.options.ownJobsOnly ?? false,
      unattended: this.options.unattended ?? false,
      version,
      node: this.options.node ?? {},
      dashboardUrl: this.url,
      handleToolCall: (call, services) => handleToolCall(services, call),
      reportError: (message, cause) => this.reportError(message, cause),
    });
  }

  private async startServices(): Promise<RecoveryResult> {
    await this.initialize();
    const services = this.runningServices;
    const recovered = await recover(services, services.dispatcher);
    await removeStaleKeepAliveFolders(services.state.stateDir);
    if (services.nodes) await removeMovedRuns(services.state, services.nodes.id);
    if (this.stopping) return recovered;
    if (!services.nodes) await resumeChainCancellations(services);
    if (this.stopping) return recovered;
    await connectToCluster(services, () => this.reload(false));
    if (this.stopping) return recovered;
    this.phase = "running";
    services.dispatcher.start();
    if (!services.nodes) {
      services.hooks.start();
      services.workClaims.start();
    }
    services.containers.start();
    if (!this.options.ownJobsOnly) {
      services.prestartedProcesses.start();
      await this.startSchedules(services);
    }
    if (!this.options.ownJobsOnly) await recordStart(this.auditContext(services));
    if (!this.stopping) this.joinCluster(services);
    return recovered;
  }

  /** In a cluster, leader services start when this node becomes the leader. */
  private joinCluster(services: FleetServices): void {
    const { nodes, hub, state } = services;
    if (!nodes || !state.shared) return;
    const poll = () => {
      services.hooks.wake();
      services.workClaims.wake();
    };
    const leadership = new Leadership(
      {
        open: () => this.startLeaderServices(services),
        poll,
        close: () => this.stopLeaderServices(services),
      },
      services.reportError,
    );
    hub.onEventsMissed(poll);
    services.leadership = leadership;
    const { shared } = state;
    const acceptsWork = () => this.acceptsWork;
    const replan = async () => services.clock?.replan();
    nodes.setHandlers(
      createNodeLifecycleHandlers({ services, shared, leadership, acceptsWork, replan }),
    );
  }

  private async startLeaderServices(services: FleetServices): Promise<void> {
    await resumeChainCancellations(services);
    services.hooks.start();
    services.workClaims.start();
    if (this.options.ownJobsOnly) return;
    services.retention?.runAgain();
    services.searchIndex?.catchUp();
    await services.clock?.replan();
    this.startChat(services);
  }

  /** The next leader continues interrupted work. */
  private async stopLeaderServices(services: FleetServices): Promise<void> {
    const { hooks, chat } = services;
    services.hooks = services.newHookWorker();
    services.chat = undefined;
    await Promise.all([hooks.stop(0), chat?.stop(0), services.clock?.replan()]);
  }

  /** Starts the services of a fleet that a single command does not need. */
  private async startSchedules(services: FleetServices): Promise<void> {
    services.retention = new RetentionCleanup(services);
    services.searchIndex = new SearchIndex(services);
    services.configWatcher = new ConfigWatcher({
      loadedAt: this.startedAt,
      loaded: () => this.config,
      reload: () => this.reload(true),
    });
    services.configWatcher.update();
    const trigger = (candidates: readonly Candidate[]) => triggerAll(services, candidates);
    const readPlans = () => services.agentSchedules.reload();
    services.clock = new ScheduleClock({ services, trigger, readAgentSchedules: readPlans });
    await services.clock.replan();
    if (!this.stopping && !services.nodes) this.startChat(services);
  }

  private auditContext({ state, nodes }: FleetServices): FleetAuditContext {
    const { audit, config } = this;
    return { audit, state, loaded: config, version, node: nodes?.id };
  }

  private startChat(services: FleetServices): void {
    const { asActor, problems, url } = this;
    const platforms = this.options.chat ?? {};
    services.chat = openChat(services, { platforms, problems, url, asActor });
    services.chat.start();
  }

  private async close(options: ShutdownOptions, actor: Actor): Promise<void> {
    const hasRun = this.phase === "running" && !this.options.ownJobsOnly;
    this.phase = "draining";
    await this.opening?.catch(() => undefined);
    if (this.services) {
      if (hasRun) await recordStop(this.audit, actor, options);
      await this.services.leadership?.stop();
      const { dispatcher, activeJobs, hooks, workClaims, state, lock, runners, nodes } =
        this.services;
      const { retention, searchIndex, containers, clock, configWatcher, chat } = this.services;
      this.hub.emit({ type: "fleet:stopping" });
      dispatcher.halt();
      await configWatcher?.stop();
      await clock?.stop();
      if (!options.detach) await drain(activeJobs, options, this.drainAbort.signal);
      const isIdle = activeJobs.size === 0;
      await dispatcher.detach();
      await disconnectFromCluster(this.services);
      await Promise.all(
        [hooks, workClaims].map((worker) => worker.stop(this.drainTimeoutMs(options))),
      );
      await chat?.stop(options.detach ? 0 : this.drainTimeoutMs(options));
      await retention?.stop();
      await searchIndex?.stop();
      this.services.budgets.stop();
      await this.services.prestartedProcesses.stop();
      this.services.idleRunners.stop();
      await this.services.endingRunners.stop();
      // Last, because a runner that had to be killed leaves its container.
      await containers.stop();
      await runners.stop();
      // Jobs that continue keep the node's identity until its next process starts, or until its
      // lease ends.
      await nodes?.stop(isIdle);
      // Failed attempts to authenticate while the fleet was stopping.
      await this.audit.flush();
      this.services = undefined;
      await state.close();
      lock.release();
    }
    this.hub.close();
  }

  /** How long to wait for hooks. With `ownJobsOnly`, no other process would continue them. */
  private drainTimeoutMs({ drainMs }: ShutdownOptions): number {
    if (drainMs === 0) return 0;
    return this.options.ownJobsOnly ? maxHookDrainTimeoutMs : hookDrainTimeoutMs;
  }

  private reportError(message: string, cause?: unknown): void {
    this.options.onError?.(message, cause);
  }
}

const hookDrainTimeoutMs = 10_000;
const maxHookDrainTimeoutMs = 10 * 60_000;

function notStartedError(): UserError {
  return new UserError("fleet_unreachable", "the fleet has not been started");
}

function stoppedError(cause?: unknown): UserError {
  return new UserError("fleet_unreachable", "the fleet has stopped", { cause });
}

/** Applies a configuration that was just read. `isFleetWide`: on all nodes of the fleet. */
async function applyConfig(services: FleetServices, isFleetWide: boolean): Promise<void> {
  const { hub, dispatcher, queue, clock, configWatcher, chat, nodes } = services;
  await nodes?.onConfigLoaded(isFleetWide);
  if (isFleetWide) await queue.reload();
  const agents = services.fleet().agents.map(({ name }) => name);
  hub.emit({ type: "fleet:reloaded", agents });
  services.idleRunners.endChanged((name) => agentConfigHash(services, name));
  services.prestartedProcesses.dropStale();
  services.budgets.refresh();
  dispatcher.wake();
  await clock?.replan();
  configWatcher?.update();
  void chat?.reconcile();
}
