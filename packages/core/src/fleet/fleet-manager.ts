import type { Environment } from "../config/environment.ts";
import { type LoadedFleet, loadFleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { UserError } from "../errors/user-error.ts";
import type { Admission, Candidate, TriggerRequest } from "../queue/admit.ts";
import type { SparePool } from "../runner-process/spare.ts";
import type { Approval } from "../state/approval.ts";
import type {
  DeliveryQuery,
  DuePage,
  DueQuery,
  HookQuery,
  JobPage,
  JobQuery,
} from "../state/contract.ts";
import type { Delivery, DeliveryWithBody } from "../state/delivery.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { Attempt, Job } from "../state/job.ts";
import type { Amounts } from "../state/spending.ts";
import { type BudgetView, today, viewBudget } from "./budget-view.ts";
import { cancelJob } from "./cancel-job.ts";
import { ConfigWatch } from "./config-watch.ts";
import type {
  DeliveryList,
  FleetControl,
  FleetEvent,
  FleetStatus,
  JobOutput,
  OutputOptions,
  ShutdownOptions,
} from "./control.ts";
import { drain } from "./drain.ts";
import { EventHub } from "./event-hub.ts";
import { fleetStatus } from "./fleet-status.ts";
import { FleetWebhooks } from "./fleet-webhooks.ts";
import { jobOutput } from "./job-output.ts";
import { type FleetParts, openParts } from "./parts.ts";
import { Problems } from "./problems.ts";
import { type Recovered, recover } from "./recovery.ts";
import { Retention } from "./retention.ts";
import { ScheduleClock } from "./schedule-clock.ts";
import { type ScheduleView, viewSchedules } from "./schedule-view.ts";
import { switchSchedule } from "./switch-schedule.ts";
import { triggerAll, triggerJob } from "./trigger-job.ts";
import { waitForJob } from "./wait-for-job.ts";

export interface FleetManagerOptions {
  /** The fleet file. */
  file: string;
  env?: Environment;
  /** What `loadFleet` gave for that file, where it is known already. */
  loaded?: LoadedFleet;
  version?: string;
  /**
   * For a command that must not take on the whole queue: starts only what is triggered here, and
   * heeds no pause, since whoever triggers is there to decide.
   */
  onlyOwn?: boolean;
  /** Nobody can be asked: what jobs that are triggered here ask is denied at once. */
  unattended?: boolean;
  /** Runners that are started already. They are stopped with the fleet. */
  spares?: SparePool;
  /** What a person should know but no record tells. */
  onTrouble?: (message: string, cause?: unknown) => void;
}

/** A fleet at work: it holds the lock, admits, starts, follows and records. */
export class FleetManager implements FleetControl {
  private readonly hub = new EventHub((error) => this.trouble("a listener failed", error));
  private readonly problems = new Problems(this.hub);
  private readonly startedAt = new Date();
  private readonly hurry = new AbortController();
  readonly webhooks: FleetWebhooks;
  private loaded: LoadedFleet | undefined;
  private parts: FleetParts | undefined;
  private phase: "starting" | "running" | "draining" = "starting";
  private opening: Promise<void> | undefined;
  private starting: Promise<Recovered> | undefined;
  private stopping: Promise<void> | undefined;

  constructor(private readonly options: FleetManagerOptions) {
    this.webhooks = new FleetWebhooks({
      env: options.env ?? process.env,
      problems: this.problems,
      config: () => this.config,
      state: () => this.opened.state,
      trigger: (request) => this.trigger(request),
    });
  }

  /** Reads the configuration, takes the lock and opens the state. Nothing runs yet. */
  initialize(): Promise<void> {
    this.opening ??= this.open().catch((error) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  /** Takes over what an earlier fleet process left, then starts what waits. */
  start(): Promise<Recovered> {
    this.starting ??= this.begin().catch((error) => {
      this.starting = undefined;
      throw error;
    });
    return this.starting;
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

  /** Ends with the signal, or when the fleet has stopped. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    return this.hub.stream(signal);
  }

  status(): Promise<FleetStatus> {
    return this.ask(({ state, dispatcher, clock }) =>
      fleetStatus({
        loaded: this.config,
        state,
        next: clock?.next() ?? [],
        active: [...dispatcher.active.values()],
        version: this.options.version ?? "0.0.0",
        startedAt: this.startedAt,
        condition: this.problems.has("state") ? "refusing" : this.phase,
        problem: this.problems.worst,
      }),
    );
  }

  trigger(request: TriggerRequest): Promise<Admission> {
    return this.ask(async (parts) => {
      if (this.phase !== "draining") return triggerJob(parts, request);
      throw new UserError("fleet_unreachable", "the fleet is stopping and takes no new work");
    });
  }

  wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    return this.ask(({ state }) => waitForJob({ state, hub: this.hub }, jobId, signal));
  }

  cancel(jobId: string, { force = false }: { force?: boolean } = {}): Promise<Job> {
    return this.ask((parts) => cancelJob(parts, jobId, force));
  }

  job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined> {
    return this.ask(async ({ state }) => {
      const job = await state.jobs.get(id);
      return job && { job, attempts: await state.jobs.attempts(id) };
    });
  }

  jobs(query: JobQuery): Promise<JobPage> {
    return this.ask(({ state }) => state.jobs.list(query));
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    return jobOutput({ state: this.opened.state, hub: this.hub }, jobId, options);
  }

  approvals(): Promise<Approval[]> {
    return this.ask(({ state }) => state.approvals.open());
  }

  answer(approvalId: string, word: "allow" | "deny", by: string): Promise<Approval> {
    return this.ask(({ board }) => board.answer(approvalId, word, by));
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryList> {
    return this.ask(() => this.webhooks.list(query));
  }

  delivery(id: string): Promise<DeliveryWithBody | undefined> {
    return this.ask(({ state }) => state.deliveries.get(id));
  }

  replay(deliveryId: string): Promise<Delivery> {
    return this.ask(() => this.webhooks.door.replay(deliveryId));
  }

  schedules(): Promise<ScheduleView[]> {
    return this.ask(({ state }) => viewSchedules(this.config.fleet, state, new Date()));
  }

  dueTimes(query: DueQuery): Promise<DuePage> {
    return this.ask(({ state }) => state.schedules.history(query));
  }

  switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView> {
    return this.ask((parts) => switchSchedule(parts, name, enabled));
  }

  budget(): Promise<BudgetView> {
    return this.ask(({ state }) => viewBudget(this.config.fleet, state, new Date()));
  }

  raiseBudget(agent: string | undefined, by: Partial<Amounts>): Promise<BudgetView> {
    return this.ask(async ({ state }) => {
      const name = agent === undefined ? undefined : this.agent(agent).name;
      await state.budgets.raise(today(this.config.fleet), name, by);
      return viewBudget(this.config.fleet, state, new Date());
    });
  }

  pause(agent: string): Promise<void> {
    return this.ask(({ pauses }) => pauses.pause(this.agent(agent)));
  }

  resume(agent: string): Promise<void> {
    return this.ask(async ({ pauses, dispatcher }) => {
      await pauses.lift(this.agent(agent));
      dispatcher.kick();
    });
  }

  hooks(query: HookQuery): Promise<HookRun[]> {
    return this.ask(({ state }) => state.hooks.list(query));
  }

  retryHook(id: string): Promise<HookRun> {
    return this.ask(async ({ state, hooks }) => {
      const run = await state.hooks.retry(id);
      hooks.kick();
      return run;
    });
  }

  /** The configuration is checked first and swapped at once; a wrong one leaves the old in force. */
  reload(): Promise<void> {
    return this.ask(async ({ dispatcher, clock, watch }) => {
      try {
        this.loaded = loadFleet(this.options.file, this.options.env);
        this.problems.set("configuration", undefined);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.problems.set("configuration", message);
        throw error;
      }
      const agents = this.config.fleet.agents.map(({ name }) => name);
      this.hub.emit({ type: "fleet:reloaded", agents });
      dispatcher.kick();
      await clock?.replan();
      watch?.follow();
    });
  }

  /** Whoever asks again and leaves no time cuts short how long the first one wanted to wait. */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    if (this.stopping && options.drainMs === 0) this.hurry.abort();
    this.stopping ??= this.close(options);
    return this.stopping;
  }

  private async open(): Promise<void> {
    if (this.stopping) throw stopped();
    this.loaded = this.options.loaded ?? loadFleet(this.options.file, this.options.env);
    this.parts = await openParts({
      hub: this.hub,
      problems: this.problems,
      loaded: () => this.config,
      spares: this.options.spares,
      onlyOwn: this.options.onlyOwn ?? false,
      unattended: this.options.unattended ?? false,
      trouble: (message, cause) => this.trouble(message, cause),
    });
  }

  private async begin(): Promise<Recovered> {
    await this.initialize();
    const { context, dispatcher } = this.opened;
    const recovered = await recover(context, dispatcher);
    if (this.stopping) return recovered;
    this.phase = "running";
    dispatcher.start();
    this.opened.hooks.start();
    this.opened.work.start();
    if (!this.options.onlyOwn) await this.keepTime(this.opened);
    return recovered;
  }

  /** What a fleet does by itself, and a command that runs alone does not. */
  private async keepTime(parts: FleetParts): Promise<void> {
    const { context } = parts;
    parts.retention = new Retention(context);
    parts.watch = new ConfigWatch({
      since: this.startedAt,
      loaded: () => this.config,
      reload: () => this.reload(),
    });
    parts.watch.follow();
    const trigger = (candidates: readonly Candidate[]) => triggerAll(parts, candidates);
    parts.clock = new ScheduleClock({ context, trigger });
    await parts.clock.replan();
  }

  private async close(options: ShutdownOptions): Promise<void> {
    this.phase = "draining";
    await this.opening?.catch(() => undefined);
    if (this.parts) {
      const { dispatcher, hooks, work, state, lock, spares, retention, clock, watch } = this.parts;
      this.hub.emit({ type: "fleet:stopping" });
      dispatcher.halt();
      await watch?.stop();
      await clock?.stop();
      if (!options.detach) await drain(dispatcher, options, this.hurry.signal);
      await dispatcher.leave();
      await Promise.all([hooks, work].map((desk) => desk.stop(this.patience(options))));
      await retention?.stop();
      await spares.stop();
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

  private agent(name: string): ResolvedAgent {
    const found = this.config.fleet.agents.find((agent) => agent.name === name);
    if (found) return found;
    throw new UserError("usage", `there is no agent \`${name}\``);
  }

  /** What fails because the fleet stopped meanwhile failed for that reason and no other. */
  private async ask<T>(work: (parts: FleetParts) => Promise<T>): Promise<T> {
    const parts = this.opened;
    try {
      return await work(parts);
    } catch (error) {
      throw this.parts === parts ? error : stopped(error);
    }
  }

  private get opened(): FleetParts {
    if (this.parts) return this.parts;
    throw this.stopping ? stopped() : unstarted();
  }

  private get config(): LoadedFleet {
    if (this.loaded) return this.loaded;
    throw unstarted();
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
