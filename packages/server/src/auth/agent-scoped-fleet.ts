import {
  type AgentsApi,
  type ApprovalsApi,
  type ArtifactsApi,
  type DeliveriesApi,
  type FleetControl,
  type Job,
  type JobsApi,
  type NotesApi,
  type RulesApi,
  type SchedulesApi,
  type SessionsApi,
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
  readonly #refuse = (): never => {
    throw agentScopeError([...this.#allowedAgents]);
  };
  /** For methods whose callers expect a promise. */
  readonly #reject = async (): Promise<never> => this.#refuse();

  constructor(fleet: FleetControl, agents: readonly string[]) {
    this.#fleet = fleet;
    this.#allowedAgents = new Set(agents);
  }

  readonly jobs: JobsApi = {
    trigger: async (request) => {
      this.#requireAgent(request.agent);
      const sessionOrJob = request.resume ?? request.fork;
      if (sessionOrJob !== undefined) await this.#requireSession(sessionOrJob);
      const admission = await this.#fleet.jobs.trigger(request);
      // A key that was used before returns the existing job, which may belong to another agent.
      this.#requireAgent(admission.job.agent);
      return admission;
    },
    get: async (id) => {
      const found = await this.#fleet.jobs.get(id);
      return found && this.#allowedAgents.has(found.job.agent) ? found : undefined;
    },
    /** A page may contain fewer jobs than `limit`; following `next_cursor` still returns all of them. */
    list: async (query = {}) => {
      const page = await this.#fleet.jobs.list({ ...query, agent: this.#agentOf(query) });
      return { ...page, jobs: this.#filterAllowed(page.jobs) };
    },
    search: async (query) => {
      const page = await this.#fleet.jobs.search({ ...query, agent: this.#agentOf(query) });
      return { ...page, hits: page.hits.filter(({ job }) => this.#allowedAgents.has(job.agent)) };
    },
    chain: async (id) => {
      await this.#requireJob(id);
      return this.#filterAllowed(await this.#fleet.jobs.chain(id));
    },
    wait: async (id, options) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.wait(id, options);
    },
    retry: async (id, options) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.retry(id, options);
    },
    rewindPoints: async (id) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.rewindPoints(id);
    },
    rewind: async (id, options) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.rewind(id, options);
    },
    tryNow: async (id) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.tryNow(id);
    },
    cancel: async (id, options) => {
      await this.#requireJob(id);
      return this.#fleet.jobs.cancel(id, options);
    },
    cancelAll: async (options) => {
      this.#requireAgent(options.agent);
      return this.#fleet.jobs.cancelAll(options);
    },
    output: (id, options) => this.#output(id, options),
  };

  readonly artifacts: ArtifactsApi = {
    list: async (jobId) => {
      await this.#requireJob(jobId);
      return this.#fleet.artifacts.list(jobId);
    },
    read: async (jobId, name) => {
      await this.#requireJob(jobId);
      return this.#fleet.artifacts.read(jobId, name);
    },
  };

  readonly sessions: SessionsApi = {
    list: async (query) => this.#filterAllowed(await this.#fleet.sessions.list(query)),
    resume: async (sessionOrJob, prompt) => {
      await this.#requireSession(sessionOrJob);
      return this.#fleet.sessions.resume(sessionOrJob, prompt);
    },
    fork: async (sessionOrJob, prompt, options) => {
      await this.#requireSession(sessionOrJob);
      return this.#fleet.sessions.fork(sessionOrJob, prompt, options);
    },
  };

  readonly approvals: ApprovalsApi = {
    list: async (query) => {
      const all = await this.#fleet.approvals.list(query);
      const jobs = await Promise.all(all.map(({ job_id }) => this.jobs.get(job_id)));
      return all.filter((_, index) => jobs[index] !== undefined);
    },
    answer: async (id, decision, options) => {
      const open = await this.approvals.list();
      if (open.some((approval) => approval.id === id))
        return this.#fleet.approvals.answer(id, decision, options);
      throw new UserError("approval_not_found", `there is no open question ${id}`);
    },
  };

  readonly rules: RulesApi = {
    list: async (query) => this.#filterAllowed(await this.#fleet.rules.list(query)),
    remove: this.#reject,
  };

  readonly agents: AgentsApi = {
    list: async () => (await this.status()).agents,
    get: async (agent) => (await this.agents.list()).find(({ name }) => name === agent),
    pause: this.#reject,
    resume: this.#reject,
  };

  readonly notes: NotesApi = {
    list: async (agent) => {
      this.#requireAgent(agent);
      return this.#fleet.notes.list(agent);
    },
    read: async (agent, name) => {
      this.#requireAgent(agent);
      return this.#fleet.notes.read(agent, name);
    },
  };

  readonly schedules: SchedulesApi = {
    list: async () => this.#filterAllowed(await this.#fleet.schedules.list()),
    dueTimes: async (query) => {
      const page = await this.#fleet.schedules.dueTimes(query);
      return { ...page, due_times: this.#filterAllowed(page.due_times) };
    },
    enable: this.#reject,
    disable: this.#reject,
    remove: this.#reject,
  };

  readonly deliveries: DeliveriesApi = {
    list: async (query) => {
      const page = await this.#fleet.deliveries.list(query);
      return { ...page, deliveries: this.#filterAllowed(page.deliveries), refused: [] };
    },
    get: async (id) => {
      const found = await this.#fleet.deliveries.get(id);
      return found && this.#allowedAgents.has(found.agent) ? found : undefined;
    },
    replay: this.#reject,
  };

  /** Notifications are about every agent. */
  readonly push = {
    publicKey: this.#reject,
    subscribe: this.#reject,
    unsubscribe: this.#reject,
  };
  readonly hooks = { list: this.#reject, retry: this.#reject };
  readonly budget = { get: this.#reject, raise: this.#reject };
  readonly costs = { get: this.#reject };
  readonly config = { get: this.#reject, preview: this.#reject, edit: this.#reject };
  readonly chat = { connections: this.#reject };
  readonly nodes = { list: this.#reject };
  readonly tokens = { list: this.#reject, create: this.#reject, revoke: this.#reject };
  readonly logins = { list: this.#reject, end: this.#reject, endAll: this.#reject };
  readonly audit = { list: this.#reject };
  readonly reload = this.#reject;
  readonly shutdown = this.#reject;
  readonly events = this.#refuse;
  readonly on = this.#refuse;
  readonly once = this.#refuse;
  readonly off = this.#refuse;

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

  /** The view has nothing of its own to close. */
  async [Symbol.asyncDispose](): Promise<void> {}

  async *#output(...[jobId, options]: Parameters<JobsApi["output"]>) {
    await this.#requireJob(jobId);
    yield* this.#fleet.jobs.output(jobId, options);
  }

  /** The store can filter by one agent; for several, the pages are filtered. */
  #agentOf(query: { agent?: string }): string | undefined {
    const [first, ...others] = this.#allowedAgents;
    return query.agent ?? (others.length === 0 ? first : undefined);
  }

  #filterAllowed<T extends { agent: string }>(items: readonly T[]): T[] {
    return items.filter(({ agent }) => this.#allowedAgents.has(agent));
  }

  #requireAgent(agent: string): void {
    if (this.#allowedAgents.has(agent)) return;
    throw new UserError("agent_not_found", `there is no agent \`${agent}\``);
  }

  async #requireJob(id: string): Promise<Job> {
    const found = await this.jobs.get(id);
    if (found) return found.job;
    throw new UserError("job_not_found", `there is no job ${id}`);
  }

  /** Accepts a session id or the id of a job that ran in the session. */
  async #requireSession(sessionOrJob: string): Promise<void> {
    if (await this.jobs.get(sessionOrJob).catch(() => undefined)) return;
    const sessions = await this.sessions.list();
    if (sessions.some(({ session_id }) => session_id === sessionOrJob)) return;
    throw new UserError("job_not_found", `there is no job or session ${sessionOrJob}`);
  }
}
