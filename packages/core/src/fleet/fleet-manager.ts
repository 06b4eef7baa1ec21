import type { ChatLinkStatus } from "../chat/chat-link.ts";
import { type ShownConfig, showConfig } from "../config/show.ts";
import { UserError } from "../errors/user-error.ts";
import type { Admission, TriggerRequest } from "../queue/admit.ts";
import { defaultFleetLimit } from "../queue/claim.ts";
import type { AccessToken } from "../state/access-token.ts";
import type { Approval, Word } from "../state/approval.ts";
import type { Artifact } from "../state/artifacts.ts";
import type { AuditPage, AuditQuery } from "../state/audit.ts";
import type { DeliveryQuery, HookQuery } from "../state/contract.ts";
import type { Delivery, DeliveryWithBody } from "../state/delivery.ts";
import type { ScheduleName } from "../state/due-time.ts";
import type { HookRun } from "../state/hook-run.ts";
import type { Actor } from "../state/identity.ts";
import type { Attempt, Job } from "../state/job.ts";
import type { JobPage, JobQuery } from "../state/job-store.ts";
import type { Login } from "../state/login.ts";
import { Memory, memoryDir, type Note } from "../state/memory.ts";
import type { DuePage, DueQuery } from "../state/schedule-store.ts";
import type { Amounts } from "../state/spending.ts";
import { processActor } from "./audit-lifecycle.ts";
import { type BudgetView, viewBudget } from "./budget-view.ts";
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
import type { CreatedToken, FleetAccess, NewAccessToken } from "./fleet-access.ts";
import { FleetActions } from "./fleet-actions.ts";
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
import { type ScheduleView, viewSchedules } from "./schedule-view.ts";
import { type SessionView, viewSession } from "./session-view.ts";
import { waitForJob } from "./wait-for-job.ts";

/** A fleet at work: it holds the lock, admits, starts, follows and records. */
export class FleetManager implements FleetControl {
  readonly webhooks: FleetWebhooks;
  readonly port: FleetPort;
  readonly mcp: FleetMcp;
  private readonly life: FleetLife;
  private readonly actions: FleetActions;

  constructor(private readonly options: FleetManagerOptions) {
    this.life = new FleetLife(
      options,
      (actor) => this.as(actor),
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
      trigger: (request, delivery, actor) => this.actingAs(actor).take(request, delivery),
    });
    this.actions = this.actingAs(processActor());
  }

  /** The same fleet for another actor: what is done through it is recorded as done by that one. */
  as(actor: Actor): FleetManager {
    const actions = { value: this.actingAs(actor) };
    return Object.create(this, { actions });
  }

  /** Tokens and sign-ins, for the server that lets requests in. */
  get access(): FleetAccess {
    return this.life.access;
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
    return this.actions.shutdown(options);
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.actions.shutdown(options);
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
    return this.actions.trigger(request);
  }

  /** Goes on with a session, named by itself or by a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.actions.continue(sessionOrJob, { prompt, resume: sessionOrJob });
  }

  /** Begins a new session that starts as a copy of this one. */
  fork(sessionOrJob: string, prompt: string, at?: string): Promise<Admission> {
    return this.actions.continue(sessionOrJob, { prompt, fork: sessionOrJob, forkAt: at });
  }

  wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    const { hub } = this.life;
    return this.life.ask(({ state }) => waitForJob({ state, hub }, jobId, signal));
  }

  cancel(jobId: string, options?: { force?: boolean }): Promise<Job> {
    return this.actions.cancel(jobId, options);
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

  answer(approvalId: string, word: Word, note?: string, reason?: string): Promise<Approval> {
    return this.actions.answer(approvalId, word, note, reason);
  }

  sessions(query: { agent?: string } = {}): Promise<SessionView[]> {
    return this.life.ask(async ({ state, context, nodes }) => {
      const found = await state.sessions.list(query);
      const [environment, now] = [context.environment(), new Date()];
      return found.map((session) => viewSession(session, environment, now, nodes?.id));
    });
  }

  pauseAgent(agent: string): Promise<void> {
    return this.actions.pauseAgent(agent);
  }

  resumeAgent(agent: string): Promise<void> {
    return this.actions.resumeAgent(agent);
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryList> {
    return this.life.ask(() => this.webhooks.list(query));
  }

  delivery(id: string): Promise<DeliveryWithBody | undefined> {
    return this.life.ask(({ state }) => state.deliveries.get(id));
  }

  replay(deliveryId: string): Promise<Delivery> {
    return this.actions.replay(deliveryId);
  }

  schedules(): Promise<ScheduleView[]> {
    return this.life.ask(({ state, context }) => viewSchedules(context.fleet(), state, new Date()));
  }

  dueTimes(query: DueQuery): Promise<DuePage> {
    return this.life.ask(({ state }) => state.schedules.history(query));
  }

  switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView> {
    return this.actions.switchSchedule(name, enabled);
  }

  removeSchedule(name: ScheduleName): Promise<void> {
    return this.actions.removeSchedule(name);
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
    return this.actions.raiseBudget(agent, by);
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
    return this.actions.retryHook(id);
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
    return this.actions.reload();
  }

  audit(query: AuditQuery): Promise<AuditPage> {
    return this.life.ask(({ state }) => state.audit.list(query));
  }

  tokens(): Promise<AccessToken[]> {
    return this.life.ask(() => this.access.tokens());
  }

  createToken(wanted: NewAccessToken): Promise<CreatedToken> {
    return this.life.ask(() => this.actions.createToken(wanted));
  }

  revokeToken(name: string): Promise<void> {
    return this.life.ask(() => this.actions.revokeToken(name));
  }

  logins(): Promise<Login[]> {
    return this.life.ask(() => this.access.logins());
  }

  endLogin(id: string): Promise<void> {
    return this.life.ask(() => this.actions.endLogin(id));
  }

  endAllLogins(): Promise<number> {
    return this.life.ask(() => this.actions.endAllLogins());
  }

  private memoryOf(agent: string): Memory {
    return new Memory(memoryDir(this.life.opened.state.stateDir, this.life.agent(agent).name));
  }

  private actingAs(actor: Actor): FleetActions {
    return new FleetActions(this.life, this.webhooks, actor);
  }
}
