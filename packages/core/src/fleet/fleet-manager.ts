import type { ChatLinkStatus } from "../chat/chat-link.ts";
import { type ShownConfig, showConfig } from "../config/show.ts";
import { UserError } from "../errors/user-error.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import { defaultFleetLimit } from "../queue/claim.ts";
import type { Admitted } from "../state/admission.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { Artifact } from "../state/artifacts.ts";
import type { DeliveryQuery, HookQuery } from "../state/contract.ts";
import type { Delivery, DeliveryWithBody, WantedDelivery } from "../state/delivery.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { Attempt, Job } from "../state/job.ts";
import type { JobPage, JobQuery } from "../state/job-store.ts";
import { Memory, memoryDir, type Note } from "../state/memory.ts";
import type { DuePage, DueQuery } from "../state/schedule-store.ts";
import type { Amounts } from "../state/spending.ts";
import { agentOfSession } from "./agent-of-session.ts";
import { agentPrint } from "./agent-print.ts";
import { type BudgetView, today, viewBudget } from "./budget-view.ts";
import { cancelJob } from "./cancel-job.ts";
import type {
  AgentStatus,
  DeliveryList,
  FleetControl,
  FleetEvent,
  FleetStatus,
  JobOutput,
  OutputOptions,
  ShutdownOptions,
} from "./control.ts";
import { type CostRequest, type CostView, viewCosts } from "./cost-view.ts";
import { FleetLife, type FleetManagerOptions } from "./fleet-life.ts";
import { FleetMcp } from "./fleet-mcp.ts";
import { FleetPort } from "./fleet-port.ts";
import { fleetStatus } from "./fleet-status.ts";
import { FleetWebhooks } from "./fleet-webhooks.ts";
import { jobOutput } from "./job-output.ts";
import { artifactOf, artifactsOf } from "./kept-files.ts";
import { listNodes, onlyNode } from "./nodes/list-nodes.ts";
import type { NodeView } from "./nodes/node-view.ts";
import type { Recovered } from "./recovery.ts";
import { removePlan } from "./remove-plan.ts";
import { type ScheduleView, viewSchedules } from "./schedule-view.ts";
import { type SessionView, viewSession } from "./session-view.ts";
import { switchSchedule } from "./switch-schedule.ts";
import { triggerJob } from "./trigger-job.ts";
import { waitForJob } from "./wait-for-job.ts";

/** A fleet at work: it holds the lock, admits, starts, follows and records. */
export class FleetManager implements FleetControl {
  readonly webhooks: FleetWebhooks;
  readonly port: FleetPort;
  readonly mcp: FleetMcp;
  private readonly life: FleetLife;

  constructor(private readonly options: FleetManagerOptions) {
    this.life = new FleetLife(
      options,
      (rollsOut) => this.readAnew(rollsOut),
      (request) => this.trigger(request),
      () => this.port.url,
    );
    const env = options.env ?? process.env;
    const config = () => this.life.config;
    this.port = new FleetPort({ env, problems: this.life.problems, config });
    this.mcp = new FleetMcp({ env, config });
    this.webhooks = new FleetWebhooks({
      env,
      hub: this.life.hub,
      config,
      state: () => this.life.opened.state,
      trigger: (request, delivery) => this.take(request, delivery),
    });
  }

  /** Reads the configuration, takes the lock and opens the state. Nothing runs yet. */
  initialize(): Promise<void> {
    return this.life.initialize();
  }

  /** Takes over what an earlier fleet process left, then starts what waits. */
  start(): Promise<Recovered> {
    return this.life.start();
  }

  stop(options?: ShutdownOptions): Promise<void> {
    return this.life.shutdown(options);
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.life.shutdown(options);
  }

  /** Called with each event of that type, until the returned function is. */
  on<T extends FleetEvent["type"]>(
    type: T,
    listener: (event: Extract<FleetEvent, { type: T }>) => void,
  ): () => void {
    return this.life.hub.on(type, listener);
  }

  /** Ends with the signal, or when the fleet has stopped. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    return this.life.hub.stream(signal);
  }

  status(): Promise<FleetStatus> {
    const { config, condition, startedAt } = this.life;
    return this.life.ask(({ state, dispatcher, clock, context }) =>
      fleetStatus({
        loaded: config,
        state,
        next: clock?.next() ?? [],
        active: [...dispatcher.active.values()],
        nodes: context.site?.nodes,
        version: this.options.version ?? "0.0.0",
        startedAt,
        condition,
        url: this.port.url,
      }),
    );
  }

  /** `status` by the name that programs look for. */
  getStatus(): Promise<FleetStatus> {
    return this.status();
  }

  async agents(): Promise<AgentStatus[]> {
    return (await this.status()).agents;
  }

  trigger(request: TriggerRequest): Promise<Admission> {
    return this.take(request);
  }

  /** Goes on with a session, named by itself or by a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.goOn(sessionOrJob, { prompt, resume: sessionOrJob });
  }

  /** Begins a new session that starts as a copy of this one. */
  fork(sessionOrJob: string, prompt: string, at?: string): Promise<Admission> {
    return this.goOn(sessionOrJob, { prompt, fork: sessionOrJob, forkAt: at });
  }

  wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    const { hub } = this.life;
    return this.life.ask(({ state }) => waitForJob({ state, hub }, jobId, signal));
  }

  cancel(jobId: string, { force = false }: { force?: boolean } = {}): Promise<Job> {
    return this.life.ask((parts) => cancelJob(parts, jobId, force));
  }

  job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined> {
    return this.life.ask(async ({ state }) => {
      const job = await state.jobs.get(id);
      return job && { job, attempts: await state.jobs.attempts(id) };
    });
  }

  chain(jobId: string): Promise<Job[]> {
    return this.life.ask(async ({ state }) => {
      const job = await state.jobs.get(jobId);
      if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
      return state.jobs.chain(job.chain.id);
    });
  }

  jobs(query: JobQuery): Promise<JobPage> {
    return this.life.ask(({ state }) => state.jobs.list(query));
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    const { hub, opened } = this.life;
    const { state, context } = opened;
    return jobOutput({ state, hub, site: context.site }, jobId, options);
  }

  /** `output` by the name of the command that shows it. */
  logs(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    return this.output(jobId, options);
  }

  approvals({ job }: { job?: string } = {}): Promise<Approval[]> {
    return this.life.ask(({ state: { approvals } }) =>
      job === undefined ? approvals.open() : approvals.ofJob(job),
    );
  }

  answer(approvalId: string, word: Word, by: string, reason?: string): Promise<Approval> {
    return this.life.ask(({ board }) => board.answer(approvalId, word, by, reason));
  }

  sessions(query: { agent?: string } = {}): Promise<SessionView[]> {
    return this.life.ask(async ({ state, context, nodes }) => {
      const found = await state.sessions.list(query);
      const [environment, now] = [context.environment(), new Date()];
      return found.map((session) => viewSession(session, environment, now, nodes?.id));
    });
  }

  pauseAgent(agent: string): Promise<void> {
    return this.life.ask(({ pauses }) => pauses.pause(this.life.agent(agent)));
  }

  resumeAgent(agent: string): Promise<void> {
    return this.life.ask(async ({ pauses, dispatcher }) => {
      await pauses.lift(this.life.agent(agent));
      dispatcher.kick();
    });
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryList> {
    return this.life.ask(() => this.webhooks.list(query));
  }

  delivery(id: string): Promise<DeliveryWithBody | undefined> {
    return this.life.ask(({ state }) => state.deliveries.get(id));
  }

  replay(deliveryId: string): Promise<Delivery> {
    return this.life.ask(() => this.webhooks.door.replay(deliveryId));
  }

  schedules(): Promise<ScheduleView[]> {
    return this.life.ask(({ state, context }) => viewSchedules(context.fleet(), state, new Date()));
  }

  dueTimes(query: DueQuery): Promise<DuePage> {
    return this.life.ask(({ state }) => state.schedules.history(query));
  }

  switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView> {
    return this.life.ask((parts) => switchSchedule(parts, name, enabled));
  }

  removeSchedule(name: ScheduleName): Promise<void> {
    return this.life.ask((parts) => removePlan(parts, name));
  }

  /** Whatever the configuration says, from now on and over restarts. */
  async enableSchedule(agent: string, schedule: string): Promise<void> {
    await this.switchSchedule({ agent, schedule }, true);
  }

  async disableSchedule(agent: string, schedule: string): Promise<void> {
    await this.switchSchedule({ agent, schedule }, false);
  }

  budget(): Promise<BudgetView> {
    return this.life.ask(({ state, context }) => viewBudget(context.fleet(), state, new Date()));
  }

  raiseBudget(agent: string | undefined, by: Partial<Amounts>): Promise<BudgetView> {
    return this.life.ask(async ({ state, context }) => {
      const name = agent === undefined ? undefined : this.life.agent(agent).name;
      await state.budgets.raise(today(context.fleet()), name, by);
      context.budgets.refresh();
      return viewBudget(context.fleet(), state, new Date());
    });
  }

  costs(request: CostRequest): Promise<CostView> {
    return this.life.ask(({ state, context }) =>
      viewCosts(context.fleet(), state, request, new Date()),
    );
  }

  artifacts(jobId: string): Promise<Artifact[]> {
    return this.life.ask(({ state }) => artifactsOf(state, jobId));
  }

  artifact(jobId: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.life.ask(({ state }) => artifactOf(state, jobId, name));
  }

  notes(agent: string): Promise<Note[]> {
    return this.life.ask(async () => this.memoryOf(agent).list());
  }

  note(agent: string, name: string): Promise<string | undefined> {
    return this.life.ask(async () => this.memoryOf(agent).read(name));
  }

  hooks(query: HookQuery): Promise<HookRun[]> {
    return this.life.ask(({ state }) => state.hooks.list(query));
  }

  retryHook(id: string): Promise<HookRun> {
    return this.life.ask(async ({ state, hooks }) => {
      const run = await state.hooks.retry(id);
      hooks.kick();
      return run;
    });
  }

  configuration(): Promise<ShownConfig> {
    return this.life.ask(async () => showConfig(this.life.config));
  }

  /** Each agent on each platform, as it stands. */
  chat(): Promise<ChatLinkStatus[]> {
    return this.life.ask(async ({ chat }) => chat?.status ?? []);
  }

  nodes(): Promise<NodeView[]> {
    return this.life.ask(async ({ state, dispatcher }) => {
      const now = new Date();
      const { fleet } = this.life.config;
      if (fleet.store !== undefined) return listNodes(state, now);
      const version = this.options.version ?? "0.0.0";
      const capacity = fleet.fleet.max_concurrent ?? defaultFleetLimit;
      const { startedAt } = this.life;
      return [onlyNode({ running: dispatcher.active.size, capacity, version, startedAt }, now)];
    });
  }

  /** What is read here is in force on all nodes from now on. */
  reload(): Promise<void> {
    return this.readAnew(true);
  }

  /** Among several nodes: `rollsOut` where it is to be the configuration of all. */
  private readAnew(rollsOut: boolean): Promise<void> {
    return this.life.ask(async ({ context, dispatcher, queue, clock, watch, chat, nodes }) => {
      this.life.readConfig();
      await nodes?.configRead(rollsOut);
      if (rollsOut) await queue.reload();
      const agents = context.fleet().agents.map(({ name }) => name);
      context.hub.emit({ type: "fleet:reloaded", agents });
      context.waiting.endChanged((name) => agentPrint(context, name));
      context.warm.adjust();
      context.budgets.refresh();
      dispatcher.kick();
      await clock?.replan();
      watch?.follow();
      void chat?.adjust();
    });
  }

  private memoryOf(agent: string): Memory {
    return new Memory(memoryDir(this.life.opened.state.stateDir, this.life.agent(agent).name));
  }

  private take(request: TriggerRequest, delivery?: WantedDelivery): Promise<Admitted> {
    return this.life.ask(async (parts) => {
      if (this.life.takesWork) return triggerJob(parts, request, delivery);
      throw new UserError("fleet_unreachable", "the fleet is stopping and takes no new work");
    });
  }

  private goOn(
    sessionOrJob: string,
    wish: Pick<TriggerRequest, "prompt" | "resume" | "fork" | "forkAt">,
  ): Promise<Admission> {
    return this.life.ask(async ({ state }) => {
      const agent = await agentOfSession(state, sessionOrJob);
      return this.trigger({ trigger: "manual", agent, ...wish });
    });
  }
}
