import {
  type Approval,
  type CostRequest,
  type DeliveryQuery,
  type DueQuery,
  type FleetControl,
  type Job,
  type JobQuery,
  type OutputOptions,
  type ScheduleName,
  type TriggerRequest,
  UserError,
  type Word,
} from "@herdctl/core";

/** The answer to a token of some agents that asks for what concerns the whole fleet. */
export function onlySomeAgents(agents: readonly string[]): UserError {
  const names = agents.map((name) => `\`${name}\``).join(", ");
  return new UserError("insufficient_scope", `this token is only for ${names}`, {
    hint: "Use a token without `--agent` for what concerns the whole fleet.",
  });
}

/**
 * A fleet of which only some agents can be seen. Other agents, their jobs and what belongs to them
 * are answered as if they did not exist; what concerns the whole fleet is refused.
 */
export class LimitedFleet implements FleetControl {
  readonly #fleet: FleetControl;
  readonly #agents: ReadonlySet<string>;

  constructor(fleet: FleetControl, agents: readonly string[]) {
    this.#fleet = fleet;
    this.#agents = new Set(agents);
  }

  async status() {
    const { fleet, agents } = await this.#fleet.status();
    const seen = agents.filter(({ name }) => this.#agents.has(name));
    const sum = (count: (agent: (typeof seen)[number]) => number) =>
      seen.reduce((total, agent) => total + count(agent), 0);
    const counts = {
      pending: sum(({ pending }) => pending),
      waiting: sum(({ waiting }) => waiting),
      running: sum(({ running }) => running.length),
      cost_today_usd: sum(({ cost_today_usd }) => cost_today_usd),
    };
    return { fleet: { ...fleet, ...counts }, agents: seen };
  }

  async trigger(request: TriggerRequest) {
    this.#expectAgent(request.agent);
    const other = request.resume ?? request.fork;
    if (other !== undefined) await this.#expectSession(other);
    const admission = await this.#fleet.trigger(request);
    // A key that was used before gives the job of that time, which may be another agent's.
    this.#expectAgent(admission.job.agent);
    return admission;
  }

  async resume(sessionOrJob: string, prompt: string) {
    await this.#expectSession(sessionOrJob);
    return this.#fleet.resume(sessionOrJob, prompt);
  }

  async fork(sessionOrJob: string, prompt: string, at?: string) {
    await this.#expectSession(sessionOrJob);
    return this.#fleet.fork(sessionOrJob, prompt, at);
  }

  async wait(jobId: string, signal?: AbortSignal) {
    await this.#expectJob(jobId);
    return this.#fleet.wait(jobId, signal);
  }

  async cancel(jobId: string, options?: { force?: boolean }) {
    await this.#expectJob(jobId);
    return this.#fleet.cancel(jobId, options);
  }

  async job(id: string) {
    const found = await this.#fleet.job(id);
    return found && this.#agents.has(found.job.agent) ? found : undefined;
  }

  async chain(jobId: string) {
    await this.#expectJob(jobId);
    return this.#only(await this.#fleet.chain(jobId));
  }

  /** A page may hold fewer jobs than were asked for; `next` still leads to all of them. */
  async jobs(query: JobQuery) {
    const [first, ...others] = this.#agents;
    const agent = query.agent ?? (others.length === 0 ? first : undefined);
    const page = await this.#fleet.jobs({ ...query, agent });
    return { ...page, jobs: this.#only(page.jobs) };
  }

  async *output(jobId: string, options?: OutputOptions) {
    await this.#expectJob(jobId);
    yield* this.#fleet.output(jobId, options);
  }

  async approvals(query?: { job?: string }) {
    const found = await this.#fleet.approvals(query);
    const seen: Approval[] = [];
    for (const one of found) if (await this.job(one.job_id)) seen.push(one);
    return seen;
  }

  async answer(approvalId: string, word: Word, note?: string, reason?: string) {
    const open = await this.approvals();
    if (open.some(({ id }) => id === approvalId)) {
      return this.#fleet.answer(approvalId, word, note, reason);
    }
    throw new UserError("approval_not_found", `there is no open question ${approvalId}`);
  }

  async sessions(query?: { agent?: string }) {
    return this.#only(await this.#fleet.sessions(query));
  }

  async deliveries(query: DeliveryQuery) {
    const page = await this.#fleet.deliveries(query);
    return { ...page, deliveries: this.#only(page.deliveries), refused: [] };
  }

  async delivery(id: string) {
    const found = await this.#fleet.delivery(id);
    return found && this.#agents.has(found.agent) ? found : undefined;
  }

  async schedules() {
    return this.#only(await this.#fleet.schedules());
  }

  async dueTimes(query: DueQuery) {
    const page = await this.#fleet.dueTimes(query);
    return { ...page, records: this.#only(page.records) };
  }

  async artifacts(jobId: string) {
    await this.#expectJob(jobId);
    return this.#fleet.artifacts(jobId);
  }

  async artifact(jobId: string, name: string) {
    await this.#expectJob(jobId);
    return this.#fleet.artifact(jobId, name);
  }

  async notes(agent: string) {
    this.#expectAgent(agent);
    return this.#fleet.notes(agent);
  }

  async note(agent: string, name: string) {
    this.#expectAgent(agent);
    return this.#fleet.note(agent, name);
  }

  events(): never {
    throw this.#refused();
  }

  async pauseAgent(): Promise<never> {
    throw this.#refused();
  }

  async resumeAgent(): Promise<never> {
    throw this.#refused();
  }

  async replay(): Promise<never> {
    throw this.#refused();
  }

  async switchSchedule(_name: ScheduleName): Promise<never> {
    throw this.#refused();
  }

  async removeSchedule(): Promise<never> {
    throw this.#refused();
  }

  async budget(): Promise<never> {
    throw this.#refused();
  }

  async raiseBudget(): Promise<never> {
    throw this.#refused();
  }

  async costs(_request: CostRequest): Promise<never> {
    throw this.#refused();
  }

  async hooks(): Promise<never> {
    throw this.#refused();
  }

  async retryHook(): Promise<never> {
    throw this.#refused();
  }

  async configuration(): Promise<never> {
    throw this.#refused();
  }

  async chat(): Promise<never> {
    throw this.#refused();
  }

  async nodes(): Promise<never> {
    throw this.#refused();
  }

  async audit(): Promise<never> {
    throw this.#refused();
  }

  async tokens(): Promise<never> {
    throw this.#refused();
  }

  async createToken(): Promise<never> {
    throw this.#refused();
  }

  async revokeToken(): Promise<never> {
    throw this.#refused();
  }

  async logins(): Promise<never> {
    throw this.#refused();
  }

  async endLogin(): Promise<never> {
    throw this.#refused();
  }

  async endAllLogins(): Promise<never> {
    throw this.#refused();
  }

  async reload(): Promise<never> {
    throw this.#refused();
  }

  async shutdown(): Promise<never> {
    throw this.#refused();
  }

  #only<T extends { agent: string }>(found: readonly T[]): T[] {
    return found.filter(({ agent }) => this.#agents.has(agent));
  }

  #expectAgent(agent: string): void {
    if (this.#agents.has(agent)) return;
    throw new UserError("agent_not_found", `there is no agent \`${agent}\``);
  }

  async #expectJob(id: string): Promise<Job> {
    const found = await this.job(id);
    if (found) return found.job;
    throw new UserError("job_not_found", `there is no job ${id}`);
  }

  /** Named by itself or by a job that ran in it. */
  async #expectSession(sessionOrJob: string): Promise<void> {
    if (await this.job(sessionOrJob).catch(() => undefined)) return;
    const sessions = await this.sessions();
    if (sessions.some(({ session_id }) => session_id === sessionOrJob)) return;
    throw new UserError("job_not_found", `there is no job or session ${sessionOrJob}`);
  }

  #refused(): UserError {
    return onlySomeAgents([...this.#agents]);
  }
}
