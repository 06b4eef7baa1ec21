import { randomUUID } from "node:crypto";
import { EventEmitter, on } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type LoadedFleet, loadFleet, viewConfig } from "@herdctl/config";
import {
  type Actor,
  AgentMemory,
  appendJobOutput,
  listJobArtifacts,
  memoryDir,
  openJobArtifact,
  readOutput,
  type SDKMessage,
  StateManager,
  saveSessionInfo,
  viewBudget,
  viewCosts,
  viewSchedules,
  viewSession,
} from "@herdctl/core/internal";
import {
  type AgentsApi,
  type Approval,
  type ApprovalsApi,
  type ArtifactsApi,
  type AuditApi,
  type BudgetApi,
  type ChatApi,
  type ConfigApi,
  type CostsApi,
  type DeliveriesApi,
  type FleetControl,
  type FleetEvent,
  type FleetEventDetails,
  type FleetEventListener,
  type FleetEventType,
  type FleetStatus,
  type HooksApi,
  isFinished,
  type Job,
  type JobOutput,
  type JobsApi,
  type LoginsApi,
  type NodesApi,
  type NodeView,
  type NotesApi,
  type OutputOptions,
  type PushApi,
  type RulesApi,
  type ScheduleRef,
  type SchedulesApi,
  type ScheduleView,
  type SessionsApi,
  type ShutdownOptions,
  type SignalOptions,
  type TokensApi,
  UserError,
} from "@herdctl/protocol";
import { FleetAccess } from "../../packages/core/src/fleet/access.ts";
import {
  AuditLogWriter,
  createAuditEntry,
} from "../../packages/core/src/fleet/audit-log-writer.ts";
import { generatePushKeys } from "../../packages/core/src/hooks/web-push.ts";
import { admit, toJobRequest } from "../../packages/core/src/jobs/admission/admit.ts";
import { EventHub } from "../../packages/core/src/lib/event-hub.ts";
import { artifactsDir } from "../../packages/core/src/store/files/artifacts.ts";
import type { ApprovalRequest } from "../../packages/protocol/src/records/approval.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const noCost = { cost_usd: null, usage: null };

const herdctlYaml = `version: 1
fleet: { name: small }
agents:
  - name: coder
    default_prompt: Fix the oldest issue.
    schedules: { nightly: { type: interval, every: 1h } }
  - name: writer
`;

/**
 * A second fleet beside the real one: it stores jobs the same way, but tests decide what the agents
 * do.
 */
export class FakeFleet implements FleetControl {
  readonly file: string;
  shutdownCalls: ShutdownOptions[] = [];
  reloadCount = 0;
  /** The nodes that `nodes` returns. */
  nodeViews: NodeView[] = [];
  readonly #state: StateManager;
  readonly #access: FleetAccess;
  #actor: Actor = { identity: "user:test", origin: "process" };
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #hub = new EventHub((error) => {
    throw error;
  });
  readonly #paused = new Map<string, string>();
  readonly #disabled = new Set<string>();
  #loaded: LoadedFleet;

  private constructor(file: string, loaded: LoadedFleet, state: StateManager) {
    this.file = file;
    this.#loaded = loaded;
    this.#state = state;
    const trouble = () => undefined;
    const agentNames = () => this.#loaded.fleet.agents.map(({ name }) => name);
    const audit = new AuditLogWriter({ store: () => state.audit, reportError: trouble });
    this.#access = new FleetAccess({ audit, state: () => state, agentNames, reportError: trouble });
  }

  static async open(): Promise<FakeFleet> {
    const file = `${tempFolderWith({ "herdctl.yaml": herdctlYaml })}/herdctl.yaml`;
    const loaded = loadFleet(file, {});
    const state = await new StateManager(loaded.fleet.stateDir).open();
    return new FakeFleet(file, loaded, state);
  }

  get stateDir(): string {
    return this.#state.stateDir;
  }

  close(): Promise<void> {
    return this.#state.close();
  }

  /** Keeps only the last actor, which is enough here. */
  as(actor: Actor): this {
    this.#actor = actor;
    return this;
  }

  readonly audit: AuditApi = { list: (query = {}) => this.#state.audit.list(query) };

  readonly tokens: TokensApi = {
    list: () => this.#access.tokens(),
    create: (wanted) => this.#access.createToken(wanted, this.#actor),
    revoke: (name) => this.#access.revokeToken(name, this.#actor),
  };

  readonly logins: LoginsApi = {
    list: () => this.#access.logins(),
    end: (id) => this.#access.endLogin(id, this.#actor),
    endAll: () => this.#access.endAllLogins(this.#actor),
  };

  async status(): Promise<FleetStatus> {
    const unfinished = await this.#state.jobs.listUnfinished();
    const count = (status: string, agent?: string) =>
      unfinished.filter((job) => job.status === status && (agent ?? job.agent) === job.agent)
        .length;
    const counts = (agent?: string) => ({
      pending: count("pending", agent),
      waiting: count("waiting", agent),
      cost_today_usd: 0,
    });
    const agents = this.#loaded.fleet.agents.map((agent) => ({
      name: agent.name,
      description: agent.description ?? null,
      labels: agent.labels,
      runtime: agent.runtime.type,
      docker: false,
      paused: this.#pauseOf(agent.name),
      running: unfinished
        .filter((job) => job.status === "running" && job.agent === agent.name)
        .map((job) => ({ job_id: job.id, started_at: job.started_at ?? "", activity: "speaking" })),
      schedules: Object.entries(agent.schedules).map(([name, { type }]) => ({
        name,
        type,
        enabled: !this.#disabled.has(`${agent.name}/${name}`),
      })),
      last_job: null,
      next_due: null,
      max_concurrent: agent.max_concurrent,
      ...counts(agent.name),
    }));
    return {
      fleet: {
        name: this.#loaded.fleet.fleet.name,
        file: this.file,
        pid: process.pid,
        version: "0.0.0",
        started_at: new Date().toISOString(),
        state: "running",
        problem: null,
        running: count("running"),
        url: null,
        shared: false,
        max_concurrent: this.#loaded.fleet.fleet.max_concurrent ?? 10,
        ...counts(),
      },
      agents,
    };
  }

  readonly jobs: JobsApi = {
    trigger: async (request) => {
      const { fleet } = this.#loaded;
      const admission = await admit(this.#state, fleet.agents, toJobRequest(request));
      if (admission.created) this.emit({ type: "job:created", job: admission.job });
      return admission;
    },
    get: async (id) => {
      const job = await this.#state.jobs.get(id);
      return job && { job, attempts: await this.#state.jobs.listAttempts(id) };
    },
    list: (query = {}) => this.#state.jobs.list(query),
    search: (query) => this.#state.search.search(query),
    chain: async (id) => this.#state.jobs.listChain((await this.#expect(id)).chain.id),
    wait: (id, { signal } = {}) => this.#wait(id, signal),
    retry: async (id) => {
      const { agent, prompt } = await this.#expect(id);
      return this.jobs.trigger({ agent, prompt });
    },
    rewindPoints: async (id) => {
      await this.#expect(id);
      return [];
    },
    rewind: async (id) => {
      await this.#expect(id);
      throw new UserError("session_unavailable", "there is no session");
    },
    tryNow: (id) => this.#expect(id),
    cancel: async (id) => {
      await this.#expect(id);
      const outcome = {
        code: "cancelled" as const,
        message: "Cancelled.",
        hint: "Trigger it again.",
      };
      const change = { status: "cancelled" as const, outcome };
      const { job, applied } = await this.#state.jobs.update(id, change);
      if (applied) this.emit({ type: "job:cancelled", job });
      return job;
    },
    cancelAll: async ({ agent }) => {
      this.#expectAgent(agent);
      const live = (await this.#state.jobs.listUnfinished()).filter((job) => job.agent === agent);
      for (const { id } of live) await this.jobs.cancel(id);
      return { cancelled: live.length, stopping: 0 };
    },
    output: (id, options) => this.#output(id, options),
  };

  readonly sessions: SessionsApi = {
    list: async (query = {}) => {
      const found = await this.#state.sessions.list(query);
      return found.map((session) => viewSession(session, {}, new Date()));
    },
    resume: (id, prompt) => this.jobs.trigger({ agent: "coder", prompt, resume: id }),
    fork: (id, prompt, { forkPoint } = {}) =>
      this.jobs.trigger({ agent: "coder", prompt, fork: id, forkPoint }),
  };

  readonly approvals: ApprovalsApi = {
    list: ({ job } = {}) =>
      job === undefined ? this.#state.approvals.listOpen() : this.#state.approvals.listByJob(job),
    answer: async (id, decision, { note, reason } = {}) => {
      if (!(await this.#state.approvals.get(id)))
        throw new UserError("approval_not_found", `there is no question ${id}`);
      const { identity } = this.#actor;
      const { approval } = await this.#state.approvals.answer(id, decision, identity, reason, note);
      this.emit({ type: "approval:answered", approval });
      return approval;
    },
  };

  readonly rules: RulesApi = {
    list: (query) => this.#state.rules.list(query),
    remove: (id) => {
      const audit = createAuditEntry(this.#actor, { action: "rule.remove", target: id });
      return this.#state.rules.remove(id, audit);
    },
  };

  readonly push: PushApi = {
    publicKey: async () => (await this.#state.push.ensureKeys(generatePushKeys)).public_key,
    subscribe: (subscription) => {
      const audit = createAuditEntry(this.#actor, { action: "push.subscribe" });
      return this.#state.push.add(subscription, this.#actor.identity, audit);
    },
    unsubscribe: async (id) => void (await this.#state.push.remove(id)),
  };

  readonly deliveries: DeliveriesApi = {
    list: async (query = {}) => ({ ...(await this.#state.deliveries.list(query)), refused: [] }),
    get: (id) => this.#state.deliveries.get(id),
    replay: async (id) => {
      const delivery = await this.#state.deliveries.get(id);
      if (!delivery) throw new UserError("delivery_not_found", `there is no delivery ${id}`);
      const { body: _, ...record } = delivery;
      return record;
    },
  };

  readonly schedules: SchedulesApi = {
    list: () => viewSchedules(this.#loaded.fleet, this.#state, new Date()),
    dueTimes: (query = {}) => this.#state.schedules.listDueRecords(query),
    enable: (name) => this.#setEnabled(name, true),
    disable: (name) => this.#setEnabled(name, false),
    remove: async (name) => {
      if (!(await this.#state.schedules.removeAgentSchedule(name)))
        throw new UserError("schedule_not_found", "no agent has planned that");
    },
  };

  readonly budget: BudgetApi = {
    get: () => viewBudget(this.#loaded.fleet, this.#state, new Date()),
    raise: async ({ agent, ...amounts }) => {
      const { day } = await this.budget.get();
      if (agent !== undefined) this.#expectAgent(agent);
      await this.#state.budgets.raise({ name: day, start: new Date() }, agent, amounts);
      return this.budget.get();
    },
  };

  readonly costs: CostsApi = {
    get: (query = {}) => viewCosts(this.#loaded.fleet, this.#state, query, new Date()),
  };

  readonly artifacts: ArtifactsApi = {
    list: (jobId) => listJobArtifacts(this.#state, jobId),
    read: (jobId, name) => openJobArtifact(this.#state, jobId, name),
  };

  readonly notes: NotesApi = {
    list: async (agent) => this.#memoryOf(agent).list(),
    read: async (agent, name) => this.#memoryOf(agent).read(name),
  };

  readonly agents: AgentsApi = {
    list: async () => (await this.status()).agents,
    get: async (agent) => (await this.agents.list()).find(({ name }) => name === agent),
    pause: async (agent) => {
      this.#expectAgent(agent);
      this.#paused.set(agent, new Date().toISOString());
      this.emit({ type: "agent:paused", agent, reason: "by hand" });
    },
    resume: async (agent) => {
      this.#expectAgent(agent);
      this.#paused.delete(agent);
      this.emit({ type: "agent:resumed", agent });
    },
  };

  readonly config: ConfigApi = {
    get: async () => viewConfig(this.#loaded),
    preview: refuseEdit,
    edit: refuseEdit,
  };
  readonly chat: ChatApi = { connections: async () => [] };
  readonly nodes: NodesApi = { list: async () => this.nodeViews };

  readonly hooks: HooksApi = {
    list: (query = {}) => this.#state.hooks.list(query),
    retry: (id) => this.#state.hooks.retry(id),
  };

  async reload(): Promise<void> {
    this.#loaded = loadFleet(this.file, {});
    this.reloadCount += 1;
    this.emit({
      type: "fleet:reloaded",
      agents: this.#loaded.fleet.agents.map(({ name }) => name),
    });
  }

  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    this.shutdownCalls.push(options);
    this.emit({ type: "fleet:stopping" });
  }

  /** Collects events from the call on, not from the first read. */
  events({ signal = new AbortController().signal }: SignalOptions = {}): AsyncIterable<FleetEvent> {
    return ended(on(this.#emitter, "event", { signal }), signal);
  }

  on<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.#hub.on(type, listener);
  }

  once<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): () => void {
    return this.#hub.once(type, listener);
  }

  off<T extends FleetEventType>(type: T, listener: FleetEventListener<T>): void {
    this.#hub.off(type, listener);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  emit(details: FleetEventDetails): void {
    this.#hub.emit(details);
    this.#emitter.emit("event", { ...details, at: new Date().toISOString() });
  }

  /** Adds a kept file to the job. */
  async keepArtifact(job: Job, name: string, content: string | Uint8Array): Promise<void> {
    const folder = artifactsDir(this.#state.jobDir(job.id));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), content);
  }

  /** Appends an agent message to the job's log. */
  async appendAgentMessage(job: Job, text: string): Promise<void> {
    const message = { type: "assistant", uuid: randomUUID(), message: { content: [{ text }] } };
    await appendJobOutput(this.#state, job.id, message);
  }

  /** Records that the job ran in this session. */
  async recordSession(job: Job, session_id: string): Promise<void> {
    const { agent, id: job_id } = job;
    await this.#state.jobs.update(job_id, { session_id });
    await saveSessionInfo(this.#state, {
      session_id,
      agent,
      session_home: "cli",
      cwd: "/nowhere",
      job_id,
    });
  }

  async startJob(job: Job): Promise<Job> {
    const { job: started } = await this.#state.jobs.startAttempt(job.id);
    this.emit({ type: "job:started", job: started });
    return started;
  }

  async finishJob(job: Job, cost: Pick<Job, "cost_usd" | "usage"> = noCost): Promise<Job> {
    const outcome = { code: "success" as const, message: "Done.", hint: "" };
    const end = { outcome_code: outcome.code, session_id: null, ...cost };
    const change = { status: "completed" as const, outcome };
    const { job: done } =
      job.attempts === 0
        ? await this.#state.jobs.update(job.id, change)
        : await this.#state.jobs.endAttempt(job.id, job.attempts, end, change);
    this.emit({ type: "job:completed", job: done });
    return done;
  }

  async createApproval(
    job: Job,
    tool: string,
    input: unknown,
    question?: ApprovalRequest["question"],
  ): Promise<Approval> {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const request = { job_id: job.id, attempt: 1, tool, input, expires_at, question };
    const approval = await this.#state.approvals.create(request);
    this.emit({ type: "approval:requested", approval });
    return approval;
  }

  #pauseOf(agent: string) {
    const since = this.#paused.get(agent);
    return since === undefined ? null : { reason: "by hand", since };
  }

  async #wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    const ended = new AbortController();
    const stop = AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]);
    const events = this.events({ signal: stop });
    try {
      const job = await this.#expect(jobId);
      if (isFinished(job.status)) return job;
      for await (const event of events) {
        if ("job" in event && event.job.id === jobId && isFinished(event.job.status))
          return event.job;
      }
      throw signal?.reason;
    } finally {
      ended.abort();
    }
  }

  async *#output(
    jobId: string,
    { from, follow, signal }: OutputOptions = {},
  ): AsyncGenerator<JobOutput> {
    const { output_file } = await this.#expect(jobId);
    const over = new AbortController();
    const end = () => over.abort();
    signal?.addEventListener("abort", end);
    if (follow) void this.jobs.wait(jobId, { signal }).then(end, end);
    const options = follow ? { from, follow: over.signal } : { from };
    for await (const { message, offset } of readOutput(output_file, options)) {
      yield { message: message as SDKMessage, offset };
    }
  }

  async #setEnabled(name: ScheduleRef, enabled: boolean): Promise<ScheduleView> {
    await this.#state.schedules.setEnabled(name, enabled);
    this.#disabled[enabled ? "delete" : "add"](`${name.agent}/${name.schedule}`);
    const views = await this.schedules.list();
    const found = views.find((one) => one.agent === name.agent && one.schedule === name.schedule);
    if (!found) throw new UserError("schedule_not_found", "there is no such schedule");
    return found;
  }

  #memoryOf(agent: string): AgentMemory {
    this.#expectAgent(agent);
    return new AgentMemory(memoryDir(this.stateDir, agent));
  }

  #expectAgent(name: string): void {
    if (this.#loaded.fleet.agents.some((agent) => agent.name === name)) return;
    throw new UserError("agent_not_found", `there is no agent \`${name}\``);
  }

  async #expect(id: string): Promise<Job> {
    const job = await this.#state.jobs.get(id);
    if (job) return job;
    throw new UserError("job_not_found", `there is no job ${id}`);
  }
}

async function* ended(
  source: AsyncIterator<FleetEvent[]>,
  signal: AbortSignal,
): AsyncGenerator<FleetEvent> {
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) yield* next.value;
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await source.return?.();
  }
}

async function refuseEdit(): Promise<never> {
  throw new UserError("edit_refused", "no files to edit");
}
