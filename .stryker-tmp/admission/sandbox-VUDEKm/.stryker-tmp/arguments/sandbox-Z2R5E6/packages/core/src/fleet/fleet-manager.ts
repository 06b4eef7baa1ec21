import { viewConfig } from "@herdctl/config";
import {
  type AccessToken,
  type Admission,
  type AgentStatus,
  type Approval,
  type ApprovalDecision,
  type Artifact,
  type Attempt,
  type AuditPage,
  type AuditQuery,
  type BudgetAmounts,
  type BudgetView,
  type ChatConnectionStatus,
  type ConfigView,
  type CostQuery,
  type CostView,
  type CreatedToken,
  type Delivery,
  type DeliveryListView,
  type DeliveryQuery,
  type DeliveryWithBody,
  type DueTimePage,
  type DueTimeQuery,
  type FleetControl,
  type FleetEvent,
  type FleetStatus,
  type HookQuery,
  type HookRun,
  type Job,
  type JobOutput,
  type JobPage,
  type JobQuery,
  type Login,
  type NewAccessToken,
  type NodeView,
  type Note,
  type OutputOptions,
  type ScheduleRef,
  type ScheduleView,
  type SessionView,
  type ShutdownOptions,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";
import { listNodes, viewSingleNode } from "../cluster/list-nodes.ts";
import type { RecoveryResult } from "../jobs/attempts/recovery.ts";
import { waitForJob } from "../jobs/attempts/wait-for-job.ts";
import { defaultFleetLimit } from "../jobs/dispatch/claim.ts";
import { AgentMemory, memoryDir } from "../store/files/agent-memory.ts";
import type { Actor } from "../store/model/identity.ts";
import { viewSchedules } from "../triggers/schedules/schedule-view.ts";
import type { FleetAccess } from "./access.ts";
import { FleetActions } from "./actions.ts";
import { processActor } from "./audit-lifecycle.ts";
import { FleetHttpOptions } from "./http-options.ts";
import { FleetLifecycle, type FleetManagerOptions } from "./lifecycle.ts";
import { FleetMcpOptions } from "./mcp-options.ts";
import { listJobArtifacts, openJobArtifact } from "./views/artifacts.ts";
import { viewBudget } from "./views/budget.ts";
import { viewCosts } from "./views/costs.ts";
import { streamJobOutput } from "./views/job-output.ts";
import { viewSession } from "./views/sessions.ts";
import { viewFleetStatus } from "./views/status.ts";
import { FleetWebhooks } from "./webhooks.ts";

/** A running fleet: holds the lock, admits triggers, runs jobs and records their results. */
export class FleetManager implements FleetControl {
  readonly webhooks: FleetWebhooks;
  readonly http: FleetHttpOptions;
  readonly mcp: FleetMcpOptions;
  private readonly lifecycle: FleetLifecycle;
  private readonly actions: FleetActions;

  constructor(private readonly options: FleetManagerOptions) {
    this.lifecycle = new FleetLifecycle(
      options,
      (actor) => this.as(actor),
      () => this.http.url,
    );
    const env = options.env ?? process.env;
    const config = () => this.lifecycle.config;
    this.http = new FleetHttpOptions({ env, problems: this.lifecycle.problems, config });
    this.mcp = new FleetMcpOptions({ env, config });
    this.webhooks = new FleetWebhooks({
      env,
      hub: this.lifecycle.hub,
      config,
      state: () => this.lifecycle.runningServices.state,
      trigger: (request, delivery, actor) =>
        this.actingAs(actor).triggerWithDelivery(request, delivery),
      audit: this.lifecycle.audit,
    });
    this.actions = this.actingAs(processActor());
  }

  /** The same fleet for another actor. Actions through it are recorded under that identity. */
  as(actor: Actor): FleetManager {
    const actions = { value: this.actingAs(actor) };
    return Object.create(this, { actions });
  }

  /** Tokens and logins, for the server that authenticates requests. */
  get access(): FleetAccess {
    return this.lifecycle.access;
  }

  /** Reads the configuration, takes the lock and opens the state. Nothing runs yet. */
  initialize(): Promise<void> {
    return this.lifecycle.initialize();
  }

  /** Adopts what an earlier fleet process left, then starts waiting jobs. */
  start(): Promise<RecoveryResult> {
    return this.lifecycle.start();
  }

  stop(options?: ShutdownOptions): Promise<void> {
    return this.actions.shutdown(options);
  }

  shutdown(options?: ShutdownOptions): Promise<void> {
    return this.actions.shutdown(options);
  }

  /** Calls the listener with each event of a type. Returns a function that unsubscribes. */
  on<T extends FleetEvent["type"]>(
    type: T,
    listener: (event: Extract<FleetEvent, { type: T }>) => void,
  ): () => void {
    return this.lifecycle.hub.on(type, listener);
  }

  /** Ends when the signal is aborted or the fleet has stopped. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    return this.lifecycle.hub.stream(signal);
  }

  status(): Promise<FleetStatus> {
    const { config, condition, startedAt } = this.lifecycle;
    return this.lifecycle.withServices(({ state, activeJobs, clock, cluster }) =>
      viewFleetStatus({
        loaded: config,
        state,
        nextDueTimes: clock?.next() ?? [],
        activeJobs: [...activeJobs.values()],
        nodes: cluster?.nodes,
        version: this.options.version ?? "0.0.0",
        startedAt,
        condition,
        url: this.http.url,
      }),
    );
  }

  /** The same as `status`. */
  getStatus(): Promise<FleetStatus> {
    return this.status();
  }

  async agents(): Promise<AgentStatus[]> {
    return (await this.status()).agents;
  }

  trigger(request: TriggerRequest): Promise<Admission> {
    return this.actions.trigger(request);
  }

  /** Continues a session, given by its id or by a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.actions.continue(sessionOrJob, { prompt, resume: sessionOrJob });
  }

  /** Starts a new session as a copy of this one. */
  fork(sessionOrJob: string, prompt: string, at?: string): Promise<Admission> {
    return this.actions.continue(sessionOrJob, { prompt, fork: sessionOrJob, forkAt: at });
  }

  wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    const { hub } = this.lifecycle;
    return this.lifecycle.withServices(({ state }) => waitForJob({ state, hub }, jobId, signal));
  }

  cancel(jobId: string, options?: { force?: boolean }): Promise<Job> {
    return this.actions.cancel(jobId, options);
  }

  job(id: string): Promise<{ job: Job; attempts: Attempt[] } | undefined> {
    return this.lifecycle.withServices(async ({ state }) => {
      const job = await state.jobs.get(id);
      return job && { job, attempts: await state.jobs.listAttempts(id) };
    });
  }

  chain(jobId: string): Promise<Job[]> {
    return this.lifecycle.withServices(async ({ state }) => {
      const job = await state.jobs.get(jobId);
      if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
      return state.jobs.listChain(job.chain.id);
    });
  }

  jobs(query: JobQuery): Promise<JobPage> {
    return this.lifecycle.withServices(({ state }) => state.jobs.list(query));
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    const { hub, runningServices } = this.lifecycle;
    const { state, cluster } = runningServices;
    return streamJobOutput({ state, hub, cluster }, jobId, options);
  }

  /** The same as `output`. */
  logs(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    return this.output(jobId, options);
  }

  approvals({ job }: { job?: string } = {}): Promise<Approval[]> {
    return this.lifecycle.withServices(({ state: { approvals } }) =>
      job === undefined ? approvals.listOpen() : approvals.listByJob(job),
    );
  }

  answer(
    approvalId: string,
    decision: ApprovalDecision,
    note?: string,
    reason?: string,
  ): Promise<Approval> {
    return this.actions.answer(approvalId, decision, note, reason);
  }

  sessions(query: { agent?: string } = {}): Promise<SessionView[]> {
    return this.lifecycle.withServices(async ({ state, environment, nodes }) => {
      const found = await state.sessions.list(query);
      const now = new Date();
      return found.map((session) => viewSession(session, environment(), now, nodes?.id));
    });
  }

  pauseAgent(agent: string): Promise<void> {
    return this.actions.pauseAgent(agent);
  }

  resumeAgent(agent: string): Promise<void> {
    return this.actions.resumeAgent(agent);
  }

  deliveries(query: DeliveryQuery): Promise<DeliveryListView> {
    return this.lifecycle.withServices(() => this.webhooks.list(query));
  }

  delivery(id: string): Promise<DeliveryWithBody | undefined> {
    return this.lifecycle.withServices(({ state }) => state.deliveries.get(id));
  }

  replay(deliveryId: string): Promise<Delivery> {
    return this.actions.replay(deliveryId);
  }

  schedules(): Promise<ScheduleView[]> {
    return this.lifecycle.withServices(({ state, fleet }) =>
      viewSchedules(fleet(), state, new Date()),
    );
  }

  dueTimes(query: DueTimeQuery): Promise<DueTimePage> {
    return this.lifecycle.withServices(({ state }) => state.schedules.listDueRecords(query));
  }

  switchSchedule(name: ScheduleRef, enabled: boolean): Promise<ScheduleView> {
    return this.actions.switchSchedule(name, enabled);
  }

  removeSchedule(name: ScheduleRef): Promise<void> {
    return this.actions.removeSchedule(name);
  }

  /** Overrides the configuration, also after restarts. */
  async enableSchedule(agent: string, schedule: string): Promise<void> {
    await this.switchSchedule({ agent, schedule }, true);
  }

  async disableSchedule(agent: string, schedule: string): Promise<void> {
    await this.switchSchedule({ agent, schedule }, false);
  }

  budget(): Promise<BudgetView> {
    return this.lifecycle.withServices(({ state, fleet }) =>
      viewBudget(fleet(), state, new Date()),
    );
  }

  raiseBudget(agent: string | undefined, amounts: Partial<BudgetAmounts>): Promise<BudgetView> {
    return this.actions.raiseBudget(agent, amounts);
  }

  costs(request: CostQuery): Promise<CostView> {
    return this.lifecycle.withServices(({ state, fleet }) =>
      viewCosts(fleet(), state, request, new Date()),
    );
  }

  artifacts(jobId: string): Promise<Artifact[]> {
    return this.lifecycle.withServices(({ state }) => listJobArtifacts(state, jobId));
  }

  artifact(jobId: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined> {
    return this.lifecycle.withServices(({ state }) => openJobArtifact(state, jobId, name));
  }

  notes(agent: string): Promise<Note[]> {
    return this.lifecycle.withServices(async () => this.agentMemory(agent).list());
  }

  note(agent: string, name: string): Promise<string | undefined> {
    return this.lifecycle.withServices(async () => this.agentMemory(agent).read(name));
  }

  hooks(query: HookQuery): Promise<HookRun[]> {
    return this.lifecycle.withServices(({ state }) => state.hooks.list(query));
  }

  retryHook(id: string): Promise<HookRun> {
    return this.actions.retryHook(id);
  }

  configuration(): Promise<ConfigView> {
    return this.lifecycle.withServices(async () => viewConfig(this.lifecycle.config));
  }

  /** The connection of each agent on each platform. */
  chat(): Promise<ChatConnectionStatus[]> {
    return this.lifecycle.withServices(async ({ chat }) => chat?.status ?? []);
  }

  nodes(): Promise<NodeView[]> {
    return this.lifecycle.withServices(async ({ state, activeJobs }) => {
      const now = new Date();
      const { fleet } = this.lifecycle.config;
      if (fleet.store !== undefined) return listNodes(state, now);
      const version = this.options.version ?? "0.0.0";
      const capacity = fleet.fleet.max_concurrent ?? defaultFleetLimit;
      const { startedAt } = this.lifecycle;
      return [viewSingleNode({ running: activeJobs.size, capacity, version, startedAt }, now)];
    });
  }

  /** Reloads the configuration on all nodes. */
  reload(): Promise<void> {
    return this.actions.reload();
  }

  audit(query: AuditQuery): Promise<AuditPage> {
    return this.lifecycle.withServices(({ state }) => state.audit.list(query));
  }

  tokens(): Promise<AccessToken[]> {
    return this.lifecycle.withServices(() => this.access.tokens());
  }

  createToken(newToken: NewAccessToken): Promise<CreatedToken> {
    return this.lifecycle.withServices(() => this.actions.createToken(newToken));
  }

  revokeToken(name: string): Promise<void> {
    return this.lifecycle.withServices(() => this.actions.revokeToken(name));
  }

  logins(): Promise<Login[]> {
    return this.lifecycle.withServices(() => this.access.logins());
  }

  endLogin(id: string): Promise<void> {
    return this.lifecycle.withServices(() => this.actions.endLogin(id));
  }

  endAllLogins(): Promise<number> {
    return this.lifecycle.withServices(() => this.actions.endAllLogins());
  }

  private agentMemory(agent: string): AgentMemory {
    return new AgentMemory(
      memoryDir(this.lifecycle.runningServices.state.stateDir, this.lifecycle.agent(agent).name),
    );
  }

  private actingAs(actor: Actor): FleetActions {
    return new FleetActions(this.lifecycle, this.webhooks, actor);
  }
}
