import type { Environment } from "../config/environment.ts";
import { type LoadedFleet, loadFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import { type Admission, admit, type TriggerRequest } from "../queue/admit.ts";
import { plainOutcome } from "../runner/begin-attempt.ts";
import { outcomes } from "../runner/outcomes.ts";
import { SparePool } from "../runner-process/spare.ts";
import type { Approval } from "../state/approval.ts";
import type { JobPage, JobQuery } from "../state/contract.ts";
import type { Attempt, Job } from "../state/job.ts";
import { isFinished } from "../state/job-change.ts";
import { acquireLock, type Lock } from "../state/lock.ts";
import type { Outcome } from "../state/outcome.ts";
import { StateManager } from "../state/state-manager.ts";
import { ApprovalBoard } from "./approval-board.ts";
import { ContainerWatch } from "./container-watch.ts";
import type { FleetContext } from "./context.ts";
import type {
  FleetControl,
  FleetEvent,
  FleetStatus,
  JobOutput,
  OutputOptions,
  ShutdownOptions,
} from "./control.ts";
import { Dispatcher } from "./dispatcher.ts";
import { drain } from "./drain.ts";
import { EventHub } from "./event-hub.ts";
import { fleetStatus } from "./fleet-status.ts";
import { jobOutput } from "./job-output.ts";
import { agentSubject, credentialSubject } from "./pauses.ts";
import { type Recovered, recover } from "./recovery.ts";
import { Retention } from "./retention.ts";
import { SpareContainers } from "./spare-containers.ts";
import { waitForJob } from "./wait-for-job.ts";

export interface FleetManagerOptions {
  /** The fleet file. */
  file: string;
  env?: Environment;
  version?: string;
  /** Starts only what is triggered here: for a command that must not take on the whole queue. */
  onlyOwn?: boolean;
  /** What a person should know but no record tells. */
  onTrouble?: (message: string, cause?: unknown) => void;
}

interface Parts {
  state: StateManager;
  lock: Lock;
  context: FleetContext;
  dispatcher: Dispatcher;
  retention?: Retention;
  containers?: ContainerWatch;
}

/** A fleet at work: it holds the lock, admits, starts, follows and records. */
export class FleetManager implements FleetControl {
  private readonly hub = new EventHub((error) => this.trouble("a listener failed", error));
  private readonly watched = new Set<string>();
  private readonly own = new Set<string>();
  private readonly startedAt = new Date();
  private readonly problems = new Map<"state" | "configuration", string>();
  private loaded: LoadedFleet | undefined;
  private parts: Parts | undefined;
  private phase: "starting" | "running" | "draining" = "starting";
  private stopping: Promise<void> | undefined;
  private readonly hurry = new AbortController();

  constructor(private readonly options: FleetManagerOptions) {}

  /** Reads the configuration, takes the lock and opens the state. Nothing runs yet. */
  async initialize(): Promise<void> {
    if (this.parts) return;
    const loaded = loadFleet(this.options.file, this.options.env);
    const lock = acquireLock(loaded.fleet.stateDir);
    try {
      const state = await new StateManager(loaded.fleet.stateDir).open();
      this.loaded = loaded;
      const context = this.contextFor(state);
      const mayStart = (id: string) => !this.options.onlyOwn || this.own.has(id);
      this.parts = { state, lock, context, dispatcher: new Dispatcher(context, mayStart) };
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** Takes over what an earlier fleet process left, then starts what waits. */
  async start(): Promise<Recovered> {
    await this.initialize();
    const { context, dispatcher } = this.opened;
    const recovered = await recover(context, dispatcher);
    this.phase = "running";
    dispatcher.start();
    this.opened.retention ??= new Retention(context);
    this.opened.containers ??= new ContainerWatch(context);
    return recovered;
  }

  stop(options?: ShutdownOptions): Promise<void> {
    return this.shutdown(options);
  }

  /** Called with each event of that type, until the returned function is. */
  on<T extends FleetEvent["type"]>(
    type: T,
    listener: (event: Extract<FleetEvent, { type: T }>) => void,
  ): () => void {
    return this.hub.on(type, listener);
  }

  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    return this.hub.stream(signal);
  }

  async status(): Promise<FleetStatus> {
    const { state, dispatcher } = this.opened;
    const problem = this.problems.get("state") ?? this.problems.get("configuration") ?? null;
    return fleetStatus({
      loaded: this.config,
      state,
      active: [...dispatcher.active.values()],
      version: this.options.version ?? "0.0.0",
      startedAt: this.startedAt,
      condition: this.problems.has("state") ? "refusing" : this.phase,
      problem,
    });
  }

  async trigger(request: TriggerRequest): Promise<Admission> {
    const { state, dispatcher } = this.opened;
    if (this.phase === "draining") {
      throw new UserError("fleet_unreachable", "the fleet is stopping and takes no new work");
    }
    const { agents } = this.config.fleet;
    const admission = await this.noticingTheDisk(() => admit(state, agents, request));
    if (!admission.created) return admission;
    this.own.add(admission.job.id);
    if (request.watched) this.watched.add(admission.job.id);
    const type = admission.job.status === "skipped" ? "job:skipped" : "job:created";
    this.hub.emit({ type, job: admission.job });
    for (const id of admission.cancel) await this.cancel(id);
    dispatcher.kick();
    return admission;
  }

  wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    return waitForJob({ state: this.opened.state, hub: this.hub }, jobId, signal);
  }

  async cancel(jobId: string, options: { force?: boolean } = {}): Promise<Job> {
    const { state, dispatcher } = this.opened;
    const job = await this.existing(jobId);
    const active = dispatcher.active.get(jobId);
    if (active) {
      active.stop("cancelled", options.force);
      return job;
    }
    if (isFinished(job.status)) return job;
    const outcome = plainOutcome("cancelled");
    const { job: ended } = await state.jobs.update(jobId, {
      status: "cancelled",
      outcome,
      due_at: null,
    });
    this.hub.emit({ type: "job:cancelled", job: ended });
    return ended;
  }

  async job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined> {
    const { state } = this.opened;
    const job = await state.jobs.get(id);
    return job && { job, attempts: await state.jobs.attempts(id) };
  }

  jobs(query: JobQuery): Promise<JobPage> {
    return this.opened.state.jobs.list(query);
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    return jobOutput({ state: this.opened.state, hub: this.hub }, jobId, options);
  }

  approvals(): Promise<Approval[]> {
    return this.opened.state.approvals.open();
  }

  answer(approvalId: string, word: "allow" | "deny", by: string): Promise<Approval> {
    return this.opened.context.board.answer(approvalId, word, by);
  }

  async pause(agent: string): Promise<void> {
    const { name } = this.agent(agent);
    const reason = "paused by hand";
    await this.opened.state.pauses.pause(agentSubject(name), "operator", reason);
    this.hub.emit({ type: "agent:paused", agent: name, reason });
  }

  async resume(agent: string): Promise<void> {
    const found = this.agent(agent);
    const { state, dispatcher } = this.opened;
    const shared = credentialSubject(found, this.config.environment);
    for (const subject of [agentSubject(found.name), ...(shared ? [shared] : [])]) {
      await state.pauses.lift(subject);
    }
    this.hub.emit({ type: "agent:resumed", agent: found.name });
    dispatcher.kick();
  }

  /** The configuration is checked first and swapped at once; a wrong one leaves the old in force. */
  async reload(): Promise<void> {
    try {
      this.loaded = loadFleet(this.options.file, this.options.env);
      this.problems.delete("configuration");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.problems.set("configuration", message);
      this.hub.emit({ type: "fleet:problem", message });
      throw error;
    }
    this.hub.emit({
      type: "fleet:reloaded",
      agents: this.config.fleet.agents.map(({ name }) => name),
    });
    this.opened.dispatcher.kick();
  }

  /** Whoever asks again and leaves no time cuts short how long the first one wanted to wait. */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    if (this.stopping && options.drainMs === 0) this.hurry.abort();
    this.stopping ??= this.close(options);
    return this.stopping;
  }

  private async close(options: ShutdownOptions): Promise<void> {
    if (!this.parts) return;
    const { dispatcher, context, state, lock, retention, containers } = this.parts;
    this.phase = "draining";
    this.hub.emit({ type: "fleet:stopping" });
    dispatcher.halt();
    if (!options.detach) await drain(dispatcher, options, this.hurry.signal);
    await dispatcher.leave();
    await retention?.stop();
    await containers?.stop();
    await context.spareContainers.stop();
    await context.spares.stop();
    await state.close();
    lock.release();
    this.parts = undefined;
  }

  private contextFor(state: StateManager): FleetContext {
    const configured = {
      state,
      fleet: () => this.config.fleet,
      environment: () => this.config.environment,
      trouble: (message: string, cause?: unknown) => this.trouble(message, cause),
    };
    return {
      ...configured,
      spareContainers: new SpareContainers(configured),
      hub: this.hub,
      spares: new SparePool(),
      board: new ApprovalBoard(state, this.hub),
      isWatched: (jobId) => this.watched.has(jobId),
      concluded: (agent, outcome) => this.concluded(agent, outcome),
      writable: (problem) => this.setStateProblem(problem),
    };
  }

  /** A credential that failed once fails for all who share it: they are paused, once. */
  private async concluded(name: string, outcome: Outcome): Promise<void> {
    const { state, dispatcher } = this.opened;
    dispatcher.heed(outcome);
    if (outcome.code === "docker_unavailable") this.opened.containers?.sweep();
    const agent = this.config.fleet.agents.find((one) => one.name === name);
    const needsPerson = outcomes[outcome.code].retry === "person";
    const subject =
      agent && needsPerson ? credentialSubject(agent, this.config.environment) : undefined;
    if (!subject || (outcome.code !== "auth_failed" && outcome.code !== "billing")) return;
    const isNew = await state.pauses.pause(subject, outcome.code, outcome.message);
    if (isNew) this.hub.emit({ type: "agent:paused", agent: name, reason: outcome.message });
  }

  private async noticingTheDisk<T>(write: () => Promise<T>): Promise<T> {
    try {
      const result = await write();
      this.setStateProblem(undefined);
      return result;
    } catch (error) {
      const isFull = error instanceof UserError && error.code === "state_unavailable";
      if (isFull) this.setStateProblem(error.message);
      throw error;
    }
  }

  private setStateProblem(problem: string | undefined): void {
    if (problem === undefined) return void this.problems.delete("state");
    if (this.problems.get("state") === problem) return;
    this.problems.set("state", problem);
    this.hub.emit({ type: "fleet:problem", message: problem });
  }

  private trouble(message: string, cause?: unknown): void {
    this.options.onTrouble?.(message, cause);
  }

  private agent(name: string): ResolvedAgent {
    const found = this.config.fleet.agents.find((agent) => agent.name === name);
    if (found) return found;
    throw new UserError("usage", `there is no agent \`${name}\``);
  }

  private async existing(jobId: string): Promise<Job> {
    const job = await this.opened.state.jobs.get(jobId);
    if (job) return job;
    throw new UserError("job_not_found", `there is no job ${jobId}`);
  }

  private get opened(): Parts {
    if (this.parts) return this.parts;
    throw new UserError("fleet_unreachable", "the fleet has not been started, or was stopped");
  }

  private get config(): LoadedFleet {
    if (this.loaded) return this.loaded;
    throw new UserError("fleet_unreachable", "the fleet has not been started");
  }
}
