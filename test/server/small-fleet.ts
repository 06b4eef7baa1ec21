import { randomUUID } from "node:crypto";
import { EventEmitter, on } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Actor,
  type Admission,
  type Amounts,
  type Approval,
  type AuditQuery,
  appendJobOutput,
  artifactOf,
  artifactsOf,
  type BudgetView,
  type CostRequest,
  type CostView,
  type DeliveryQuery,
  type DuePage,
  type DueQuery,
  type FleetControl,
  type FleetEvent,
  type FleetStatus,
  type HookQuery,
  isFinished,
  type Job,
  type JobOutput,
  type JobQuery,
  type LoadedFleet,
  loadFleet,
  Memory,
  memoryDir,
  type NewAccessToken,
  type NodeView,
  type OutputOptions,
  readOutput,
  type ScheduleName,
  type ScheduleView,
  type SDKMessage,
  type SessionView,
  type ShownConfig,
  type ShutdownOptions,
  StateManager,
  saveSessionInfo,
  showConfig,
  type TriggerRequest,
  UserError,
  viewBudget,
  viewCosts,
  viewSchedules,
  viewSession,
  type Word,
} from "@herdctl/core";
import { Audit } from "../../packages/core/src/fleet/audit.ts";
import { FleetAccess } from "../../packages/core/src/fleet/fleet-access.ts";
import { admit } from "../../packages/core/src/queue/admit.ts";
import type { ApprovalRequest } from "../../packages/core/src/state/approval.ts";
import { artifactsDir } from "../../packages/core/src/state/artifacts.ts";
import { folderWith } from "../support/folder.ts";

const free = { cost_usd: null, usage: null };

const herdctlYaml = `version: 1
fleet: { name: small }
agents:
  - name: coder
    default_prompt: Fix the oldest issue.
    schedules: { nightly: { type: interval, every: 1h } }
  - name: writer
`;

/**
 * A second fleet beside the real one: the same jobs in the same state, but the agents say and do
 * only what a test has them say and do.
 */
export class SmallFleet implements FleetControl {
  readonly file: string;
  shutdowns: ShutdownOptions[] = [];
  reloads = 0;
  /** Whom `nodes` tells of. */
  nodesThere: NodeView[] = [];
  readonly #state: StateManager;
  readonly #access: FleetAccess;
  #actor: Actor = { identity: "user:test", origin: "process" };
  readonly #emitter = new EventEmitter().setMaxListeners(0);
  readonly #paused = new Map<string, string>();
  readonly #disabled = new Set<string>();
  #loaded: LoadedFleet;

  private constructor(file: string, loaded: LoadedFleet, state: StateManager) {
    this.file = file;
    this.#loaded = loaded;
    this.#state = state;
    const trouble = () => undefined;
    const agentNames = () => this.#loaded.fleet.agents.map(({ name }) => name);
    const audit = new Audit({ store: () => state.audit, trouble });
    this.#access = new FleetAccess({ audit, state: () => state, agentNames, trouble });
  }

  static async open(): Promise<SmallFleet> {
    const file = `${folderWith({ "herdctl.yaml": herdctlYaml })}/herdctl.yaml`;
    const loaded = loadFleet(file, {});
    const state = await new StateManager(loaded.fleet.stateDir).open();
    return new SmallFleet(file, loaded, state);
  }

  get stateDir(): string {
    return this.#state.stateDir;
  }

  close(): Promise<void> {
    return this.#state.close();
  }

  /** One at a time is enough here: the last one that was named. */
  as(actor: Actor): this {
    this.#actor = actor;
    return this;
  }

  audit(query: AuditQuery) {
    return this.#state.audit.list(query);
  }

  tokens() {
    return this.#access.tokens();
  }

  createToken(wanted: NewAccessToken) {
    return this.#access.createToken(wanted, this.#actor);
  }

  revokeToken(name: string) {
    return this.#access.revokeToken(name, this.#actor);
  }

  logins() {
    return this.#access.logins();
  }

  endLogin(id: string) {
    return this.#access.endLogin(id, this.#actor);
  }

  endAllLogins() {
    return this.#access.endAllLogins(this.#actor);
  }

  async status(): Promise<FleetStatus> {
    const unfinished = await this.#state.jobs.unfinished();
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
      runtime: agent.runtime.type,
      docker: false,
      paused: this.#pauseOf(agent.name),
      running: unfinished
        .filter((job) => job.status === "running" && job.agent === agent.name)
        .map((job) => ({ job_id: job.id, started_at: job.started_at ?? "", doing: "speaking" })),
      schedules: Object.entries(agent.schedules).map(([name, { type }]) => ({
        name,
        type,
        enabled: !this.#disabled.has(`${agent.name}/${name}`),
      })),
      last_job: null,
      next_due: null,
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
        ...counts(),
      },
      agents,
    };
  }

  async trigger(request: TriggerRequest): Promise<Admission> {
    const admission = await admit(this.#state, this.#loaded.fleet.agents, request);
    if (admission.created) this.emit({ type: "job:created", job: admission.job });
    return admission;
  }

  resume(id: string, prompt: string): Promise<Admission> {
    return this.trigger({ trigger: "manual", agent: "coder", prompt, resume: id });
  }

  fork(id: string, prompt: string, at?: string): Promise<Admission> {
    return this.trigger({ trigger: "manual", agent: "coder", prompt, fork: id, forkAt: at });
  }

  async configuration(): Promise<ShownConfig> {
    return showConfig(this.#loaded);
  }

  async wait(jobId: string, signal?: AbortSignal): Promise<Job> {
    const ended = new AbortController();
    const events = this.events(AbortSignal.any([ended.signal, ...(signal ? [signal] : [])]));
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

  async cancel(jobId: string): Promise<Job> {
    await this.#expect(jobId);
    const outcome = {
      code: "cancelled" as const,
      message: "Cancelled.",
      hint: "Trigger it again.",
    };
    const { job, applied } = await this.#state.jobs.update(jobId, { status: "cancelled", outcome });
    if (applied) this.emit({ type: "job:cancelled", job });
    return job;
  }

  async job(id: string) {
    const job = await this.#state.jobs.get(id);
    return job && { job, attempts: await this.#state.jobs.attempts(id) };
  }

  async chain(jobId: string) {
    return this.#state.jobs.chain((await this.#expect(jobId)).chain.id);
  }

  jobs(query: JobQuery) {
    return this.#state.jobs.list(query);
  }

  async *output(jobId: string, { from, follow }: OutputOptions = {}): AsyncGenerator<JobOutput> {
    const { output_file } = await this.#expect(jobId);
    const over = new AbortController();
    const end = () => over.abort();
    follow?.addEventListener("abort", end);
    if (follow) void this.wait(jobId, follow).then(end, end);
    const options = follow ? { from, follow: over.signal } : { from };
    for await (const { message, offset } of readOutput(output_file, options)) {
      yield { message: message as SDKMessage, offset };
    }
  }

  approvals({ job }: { job?: string } = {}): Promise<Approval[]> {
    return job === undefined ? this.#state.approvals.open() : this.#state.approvals.ofJob(job);
  }

  async answer(id: string, word: Word, note?: string, reason?: string): Promise<Approval> {
    if (!(await this.#state.approvals.get(id)))
      throw new UserError("approval_not_found", `there is no question ${id}`);
    const { approval } = await this.#state.approvals.answer(
      id,
      word,
      this.#actor.identity,
      reason,
      note,
    );
    this.emit({ type: "approval:answered", approval });
    return approval;
  }

  async deliveries(query: DeliveryQuery) {
    return { ...(await this.#state.deliveries.list(query)), refused: [] };
  }

  delivery(id: string) {
    return this.#state.deliveries.get(id);
  }

  async replay(id: string) {
    const delivery = await this.#state.deliveries.get(id);
    if (!delivery) throw new UserError("delivery_not_found", `there is no delivery ${id}`);
    const { body: _, ...record } = delivery;
    return record;
  }

  schedules(): Promise<ScheduleView[]> {
    return viewSchedules(this.#loaded.fleet, this.#state, new Date());
  }

  dueTimes(query: DueQuery): Promise<DuePage> {
    return this.#state.schedules.history(query);
  }

  async switchSchedule(name: ScheduleName, enabled: boolean): Promise<ScheduleView> {
    await this.#state.schedules.switchTo(name, enabled);
    this.#disabled[enabled ? "delete" : "add"](`${name.agent}/${name.schedule}`);
    const views = await this.schedules();
    const found = views.find((one) => one.agent === name.agent && one.schedule === name.schedule);
    if (!found) throw new UserError("usage", "there is no such schedule");
    return found;
  }

  async removeSchedule(name: ScheduleName): Promise<void> {
    if (!(await this.#state.schedules.takeBack(name)))
      throw new UserError("usage", "nobody has planned that");
  }

  budget(): Promise<BudgetView> {
    return viewBudget(this.#loaded.fleet, this.#state, new Date());
  }

  costs(request: CostRequest): Promise<CostView> {
    return viewCosts(this.#loaded.fleet, this.#state, request, new Date());
  }

  async raiseBudget(agent: string | undefined, by: Partial<Amounts>): Promise<BudgetView> {
    const { day } = await this.budget();
    await this.#state.budgets.raise({ name: day, start: new Date() }, agent, by);
    return this.budget();
  }

  artifacts(jobId: string) {
    return artifactsOf(this.#state, jobId);
  }

  artifact(jobId: string, name: string) {
    return artifactOf(this.#state, jobId, name);
  }

  notes(agent: string) {
    return new Memory(memoryDir(this.stateDir, agent)).list();
  }

  note(agent: string, name: string) {
    return new Memory(memoryDir(this.stateDir, agent)).read(name);
  }

  async pauseAgent(agent: string): Promise<void> {
    this.#expectAgent(agent);
    this.#paused.set(agent, new Date().toISOString());
    this.emit({ type: "agent:paused", agent, reason: "by hand" });
  }

  async resumeAgent(agent: string): Promise<void> {
    this.#expectAgent(agent);
    this.#paused.delete(agent);
    this.emit({ type: "agent:resumed", agent });
  }

  async sessions(query: { agent?: string } = {}): Promise<SessionView[]> {
    const found = await this.#state.sessions.list(query);
    return found.map((session) => viewSession(session, {}, new Date()));
  }

  async chat() {
    return [];
  }

  async nodes() {
    return this.nodesThere;
  }

  hooks(query: HookQuery) {
    return this.#state.hooks.list(query);
  }

  retryHook(id: string) {
    return this.#state.hooks.retry(id);
  }

  async reload(): Promise<void> {
    this.#loaded = loadFleet(this.file, {});
    this.reloads += 1;
    this.emit({
      type: "fleet:reloaded",
      agents: this.#loaded.fleet.agents.map(({ name }) => name),
    });
  }

  async shutdown(options: ShutdownOptions = {}): Promise<void> {
    this.shutdowns.push(options);
    this.emit({ type: "fleet:stopping" });
  }

  /** From the call on, not from the first look. */
  events(signal: AbortSignal): AsyncIterable<FleetEvent> {
    return ended(on(this.#emitter, "event", { signal }), signal);
  }

  emit(event: FleetEvent): void {
    this.#emitter.emit("event", event);
  }

  /** A file that the job keeps. */
  async keep(job: Job, name: string, content: string | Uint8Array): Promise<void> {
    const folder = artifactsDir(this.#state.jobDir(job.id));
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), content);
  }

  /** What the agent of this job says next. */
  async say(job: Job, text: string): Promise<void> {
    const message = { type: "assistant", uuid: randomUUID(), message: { content: [{ text }] } };
    await appendJobOutput(this.#state, job.id, message);
  }

  /** As if the job had run in this session. */
  async converse(job: Job, session_id: string): Promise<void> {
    const { agent, id: job_id } = job;
    await this.#state.jobs.update(job_id, { session_id });
    await saveSessionInfo(this.#state, {
      session_id,
      agent,
      place: "cli",
      cwd: "/nowhere",
      job_id,
    });
  }

  async begin(job: Job): Promise<Job> {
    const { job: started } = await this.#state.jobs.startAttempt(job.id);
    this.emit({ type: "job:started", job: started });
    return started;
  }

  async finish(job: Job, cost: Pick<Job, "cost_usd" | "usage"> = free): Promise<Job> {
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

  async ask(
    job: Job,
    tool: string,
    input: unknown,
    question?: ApprovalRequest["question"],
  ): Promise<Approval> {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const request = { job_id: job.id, attempt: 1, tool, input, expires_at, question };
    const approval = await this.#state.approvals.ask(request);
    this.emit({ type: "approval:asked", approval });
    return approval;
  }

  #pauseOf(agent: string) {
    const since = this.#paused.get(agent);
    return since === undefined ? null : { reason: "by hand", since };
  }

  #expectAgent(name: string): void {
    if (this.#loaded.fleet.agents.some((agent) => agent.name === name)) return;
    throw new UserError("usage", `there is no agent \`${name}\``);
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
