import {
  type Approval,
  type ApprovalDecision,
  type CostQuery,
  type DeliveryQuery,
  type DueTimeQuery,
  type FleetControl,
  type Job,
  type JobQuery,
  type OutputOptions,
  type ScheduleRef,
  type TriggerRequest,
  UserError,
} from "@herdctl/protocol";

/** Thrown when a token that is limited to agents requests something of the whole fleet. */
export function agentScopeError(agents: readonly string[]): UserError {
  const names = agents.map((name) => `\`${name}\``).join(", ");
  return new UserError("insufficient_scope", `this token is limited to ${names}`, {
    hint: "Use a token created without `--agent` for requests about the whole fleet.",
  });
}

/**
 * A view of the fleet that is limited to some agents. Other agents, their jobs and related records
 * appear not to exist; requests about the whole fleet are refused.
 */
export class AgentScopedFleet implements FleetControl {
  readonly #fleet: FleetControl;
  readonly #allowedAgents: ReadonlySet<string>;

  constructor(fleet: FleetControl, agents: readonly string[]) {
    this.#fleet = fleet;
    this.#allowedAgents = new Set(agents);
  }

  async status() {
    const { fleet, agents } = await this.#fleet.status();
    const visibleAgents = agents.filter(({ name }) => this.#allowedAgents.has(name));
    const sum = (count: (agent: (typeof visibleAgents)[number]) => number) =>
      visibleAgents.reduce((total, agent) => total + count(agent), 0);
    const counts = {
      pending: sum(({ pending }) => pending),
      waiting: sum(({ waiting }) => waiting),
      running: sum(({ running }) => running.length),
      cost_today_usd: sum(({ cost_today_usd }) => cost_today_usd),
    };
    return { fleet: { ...fleet, ...counts }, agents: visibleAgents };
  }

  async trigger(request: TriggerRequest) {
    this.#requireAgent(request.agent);
    const sessionOrJob = request.resume ?? request.fork;
    if (sessionOrJob !== undefined) await this.#requireSession(sessionOrJob);
    const admission = await this.#fleet.trigger(request);
    // A key that was used before returns the existing job, which may belong to another agent.
    this.#requireAgent(admission.job.agent);
    return admission;
  }

  async resume(sessionOrJob: string, prompt: string) {
    await this.#requireSession(sessionOrJob);
    return this.#fleet.resume(sessionOrJob, prompt);
  }

  async fork(sessionOrJob: string, prompt: string, at?: string) {
    await this.#requireSession(sessionOrJob);
    return this.#fleet.fork(sessionOrJob, prompt, at);
  }

  async wait(jobId: string, signal?: AbortSignal) {
    await this.#requireJob(jobId);
    return this.#fleet.wait(jobId, signal);
  }

  async cancel(jobId: string, options?: { force?: boolean }) {
    await this.#requireJob(jobId);
    return this.#fleet.cancel(jobId, options);
  }

  async job(id: string) {
    const found = await this.#fleet.job(id);
    return found && this.#allowedAgents.has(found.job.agent) ? found : undefined;
  }

  async chain(jobId: string) {
    await this.#requireJob(jobId);
    return this.#filterAllowed(await this.#fleet.chain(jobId));
  }

  /** A page may contain fewer jobs than `limit`; following `next` still returns all of them. */
  async jobs(query: JobQuery) {
    const [first, ...others] = this.#allowedAgents;
    const agent = query.agent ?? (others.length === 0 ? first : undefined);
    const page = await this.#fleet.jobs({ ...query, agent });
    return { ...page, jobs: this.#filterAllowed(page.jobs) };
  }

  async *output(jobId: string, options?: OutputOptions) {
    await this.#requireJob(jobId);
    yield* this.#fleet.output(jobId, options);
  }

  async approvals(query?: { job?: string }) {
    const visible: Approval[] = [];
    for (const approval of await this.#fleet.approvals(query))
      if (await this.job(approval.job_id)) visible.push(approval);
    return visible;
  }

  async answer(approvalId: string, decision: ApprovalDecision, note?: string, reason?: string) {
    const open = await this.approvals();
    if (open.some(({ id }) => id === approvalId)) {
      return this.#fleet.answer(approvalId, decision, note, reason);
    }
    throw new UserError("approval_not_found", `there is no open question ${approvalId}`);
  }

  async sessions(query?: { agent?: string }) {
    return this.#filterAllowed(await this.#fleet.sessions(query));
  }

  async deliveries(query: DeliveryQuery) {
    const page = await this.#fleet.deliveries(query);
    return { ...page, deliveries: this.#filterAllowed(page.deliveries), refused: [] };
  }

  async delivery(id: string) {
    const found = await this.#fleet.delivery(id);
    return found && this.#allowedAgents.has(found.agent) ? found : undefined;
  }

  async schedules() {
    return this.#filterAllowed(await this.#fleet.schedules());
  }

  async dueTimes(query: DueTimeQuery) {
    const page = await this.#fleet.dueTimes(query);
    return { ...page, records: this.#filterAllowed(page.records) };
  }

  async artifacts(jobId: string) {
    await this.#requireJob(jobId);
    return this.#fleet.artifacts(jobId);
  }

  async artifact(jobId: string, name: string) {
    await this.#requireJob(jobId);
    return this.#fleet.artifact(jobId, name);
  }

  async notes(agent: string) {
    this.#requireAgent(agent);
    return this.#fleet.notes(agent);
  }

  async note(agent: string, name: string) {
    this.#requireAgent(agent);
    return this.#fleet.note(agent, name);
  }

  events(): never {
    throw this.#scopeError();
  }

  async pauseAgent(): Promise<never> {
    throw this.#scopeError();
  }

  async resumeAgent(): Promise<never> {
    throw this.#scopeError();
  }

  async replay(): Promise<never> {
    throw this.#scopeError();
  }

  async switchSchedule(_name: ScheduleRef): Promise<never> {
    throw this.#scopeError();
  }

  async removeSchedule(): Promise<never> {
    throw this.#scopeError();
  }

  async budget(): Promise<never> {
    throw this.#scopeError();
  }

  async raiseBudget(): Promise<never> {
    throw this.#scopeError();
  }

  async costs(_request: CostQuery): Promise<never> {
    throw this.#scopeError();
  }

  async hooks(): Promise<never> {
    throw this.#scopeError();
  }

  async retryHook(): Promise<never> {
    throw this.#scopeError();
  }

  async configuration(): Promise<never> {
    throw this.#scopeError();
  }

  async chat(): Promise<never> {
    throw this.#scopeError();
  }

  async nodes(): Promise<never> {
    throw this.#scopeError();
  }

  async audit(): Promise<never> {
    throw this.#scopeError();
  }

  async tokens(): Promise<never> {
    throw this.#scopeError();
  }

  async createToken(): Promise<never> {
    throw this.#scopeError();
  }

  async revokeToken(): Promise<never> {
    throw this.#scopeError();
  }

  async logins(): Promise<never> {
    throw this.#scopeError();
  }

  async endLogin(): Promise<never> {
    throw this.#scopeError();
  }

  async endAllLogins(): Promise<never> {
    throw this.#scopeError();
  }

  async reload(): Promise<never> {
    throw this.#scopeError();
  }

  async shutdown(): Promise<never> {
    throw this.#scopeError();
  }

  #filterAllowed<T extends { agent: string }>(items: readonly T[]): T[] {
    return items.filter(({ agent }) => this.#allowedAgents.has(agent));
  }

  #requireAgent(agent: string): void {
    if (this.#allowedAgents.has(agent)) return;
    throw new UserError("agent_not_found", `there is no agent \`${agent}\``);
  }

  async #requireJob(id: string): Promise<Job> {
    const found = await this.job(id);
    if (found) return found.job;
    throw new UserError("job_not_found", `there is no job ${id}`);
  }

  /** Accepts a session id or the id of a job that ran in the session. */
  async #requireSession(sessionOrJob: string): Promise<void> {
    if (await this.job(sessionOrJob).catch(() => undefined)) return;
    const sessions = await this.sessions();
    if (sessions.some(({ session_id }) => session_id === sessionOrJob)) return;
    throw new UserError("job_not_found", `there is no job or session ${sessionOrJob}`);
  }

  #scopeError(): UserError {
    return agentScopeError([...this.#allowedAgents]);
  }
}
