import { UserError } from "../errors/user-error.ts";
import { type Admission, scheduleOf, type TriggerRequest } from "../queue/admit.ts";
import type { Approval } from "../state/approval.ts";
import type { JobPage, JobQuery } from "../state/contract.ts";
import type { Attempt, Job } from "../state/job.ts";
import { agentOfSession } from "./agent-of-session.ts";
import { cancelJob } from "./cancel-job.ts";
import type {
  AgentStatus,
  FleetControl,
  FleetEvent,
  FleetStatus,
  JobOutput,
  OutputOptions,
  ShutdownOptions,
} from "./control.ts";
import { FleetLife, type FleetManagerOptions } from "./fleet-life.ts";
import { fleetStatus } from "./fleet-status.ts";
import { jobOutput } from "./job-output.ts";
import type { Recovered } from "./recovery.ts";
import { type SessionView, viewSession } from "./session-view.ts";
import { triggerJob } from "./trigger-job.ts";
import { waitForJob } from "./wait-for-job.ts";

/** A fleet at work: it holds the lock, admits, starts, follows and records. */
export class FleetManager implements FleetControl {
  private readonly life: FleetLife;

  constructor(private readonly options: FleetManagerOptions) {
    this.life = new FleetLife(options);
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
    return this.life.ask(({ state, dispatcher }) =>
      fleetStatus({
        loaded: config,
        state,
        active: [...dispatcher.active.values()],
        version: this.options.version ?? "0.0.0",
        startedAt,
        condition,
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
    return this.life.ask(async (parts) => {
      if (this.life.takesWork) return triggerJob(parts, request);
      throw new UserError("fleet_unreachable", "the fleet is stopping and takes no new work");
    });
  }

  /** Goes on with a session, named by itself or by a job that ran in it. */
  resume(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.goOn(sessionOrJob, { prompt, resume: sessionOrJob });
  }

  /** Begins a new session that starts as a copy of this one. */
  fork(sessionOrJob: string, prompt: string): Promise<Admission> {
    return this.goOn(sessionOrJob, { prompt, fork: sessionOrJob });
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

  jobs(query: JobQuery): Promise<JobPage> {
    return this.life.ask(({ state }) => state.jobs.list(query));
  }

  output(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    const { hub, opened } = this.life;
    return jobOutput({ state: opened.state, hub }, jobId, options);
  }

  /** `output` by the name of the command that shows it. */
  logs(jobId: string, options?: OutputOptions): AsyncIterable<JobOutput> {
    return this.output(jobId, options);
  }

  approvals(): Promise<Approval[]> {
    return this.life.ask(({ state }) => state.approvals.open());
  }

  answer(approvalId: string, word: "allow" | "deny", by: string): Promise<Approval> {
    return this.life.ask(({ board }) => board.answer(approvalId, word, by));
  }

  sessions(query: { agent?: string } = {}): Promise<SessionView[]> {
    return this.life.ask(async ({ state, context }) => {
      const found = await state.sessions.list(query);
      return found.map((session) => viewSession(session, context.environment(), new Date()));
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

  enableSchedule(agent: string, schedule: string): Promise<void> {
    return this.switchSchedule(agent, schedule, true);
  }

  disableSchedule(agent: string, schedule: string): Promise<void> {
    return this.switchSchedule(agent, schedule, false);
  }

  reload(): Promise<void> {
    return this.life.ask(async ({ context, dispatcher }) => {
      this.life.readConfig();
      const agents = context.fleet().agents.map(({ name }) => name);
      context.hub.emit({ type: "fleet:reloaded", agents });
      dispatcher.kick();
    });
  }

  private goOn(
    sessionOrJob: string,
    wish: Pick<TriggerRequest, "prompt" | "resume" | "fork">,
  ): Promise<Admission> {
    return this.life.ask(async ({ state }) => {
      const agent = await agentOfSession(state, sessionOrJob);
      return this.trigger({ trigger: "manual", agent, ...wish });
    });
  }

  private switchSchedule(name: string, schedule: string, enabled: boolean): Promise<void> {
    return this.life.ask(async ({ state, context }) => {
      const agent = this.life.agent(name);
      scheduleOf(agent, { schedule });
      await state.schedules.switch(name, schedule, enabled);
      context.hub.emit({ type: "schedule:switched", agent: name, schedule, enabled });
    });
  }
}
