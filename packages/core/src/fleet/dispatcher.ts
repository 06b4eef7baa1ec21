import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import { claim, nextDue } from "../queue/claim.ts";
import { type SlowDown, slowDown } from "../queue/slow-down.ts";
import type { LiveJob } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";
import { ActiveJob } from "./active-job.ts";
import type { FleetContext } from "./context.ts";
import { findPauses } from "./pauses.ts";

const tryAgainAfter = 1_000;
const longestTimer = 2 ** 31 - 1;

/** From this length on, looking through the queue after every trigger would take all the time there is. */
const longQueue = 500;
const restPerLook = 4;
const longestRest = 500;

/** Starts what may start, as soon as it may: after every event, and at the next due time. */
export class Dispatcher {
  readonly active = new Map<string, ActiveJob>();
  private readonly servedAt = new Map<string, number>();
  private slowed: SlowDown | undefined;
  private served = 0;
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private again = false;
  private rest = 0;
  private open = false;
  private left = false;
  private letIn: () => void = () => undefined;
  /** Resolves when the first job may be started. */
  readonly opened = new Promise<void>((resolve) => {
    this.letIn = resolve;
  });

  constructor(
    private readonly context: FleetContext,
    /** Where it is given: nothing else is started, and no pause holds these back. */
    private readonly only?: ReadonlySet<string>,
  ) {}

  get isOpen(): boolean {
    return this.open;
  }

  start(): void {
    this.open = true;
    this.letIn();
    this.kick();
  }

  /** No further job is started; those under way go on. */
  halt(): void {
    this.open = false;
    clearTimeout(this.timer);
  }

  get isLeft(): boolean {
    return this.left;
  }

  /** Lets go of jobs that are left to run: their runners need nobody. */
  async leave(): Promise<void> {
    this.halt();
    this.left = true;
    await this.passing;
    await Promise.all([...this.active.values()].map((job) => job.leave()));
  }

  /** Something changed: there may be a job to start. */
  kick(): void {
    if (!this.open) return;
    if (this.passing) {
      this.again = true;
      return;
    }
    const passed = this.pass().then(() => (this.rest > 0 ? delay(this.rest) : undefined));
    this.passing = passed.finally(() => {
      this.passing = undefined;
      if (!this.again) return;
      this.again = false;
      this.kick();
    });
  }

  /** What one run learned of the API holds for all. */
  heed({ code }: Outcome): void {
    this.slowed = slowDown(this.slowed, code, new Date());
  }

  /** Keeps a job among the active ones for as long as it is worked on. */
  track(job: ActiveJob, work: Promise<void>): Promise<void> {
    this.active.set(job.id, job);
    // Found by a recovery that was overtaken by the end.
    if (this.left) void job.leave();
    return work
      .catch((error) => this.context.trouble(`${job.id} could not be carried on`, error))
      .finally(() => {
        this.active.delete(job.id);
        // Whoever waits for this job is answered before the next is looked for.
        setImmediate(() => this.kick());
      });
  }

  private async pass(): Promise<void> {
    clearTimeout(this.timer);
    const began = performance.now();
    this.rest = 0;
    try {
      const live = await this.context.state.jobs.snapshot();
      const snapshot = live.map((job) => this.asItIs(job)).filter((job) => this.concernsUs(job));
      const limits = await this.limits();
      const now = new Date();
      const claimed = claim(snapshot, limits, now);
      if (live.length >= longQueue)
        this.rest = Math.min((performance.now() - began) * restPerLook, longestRest);
      for (const id of claimed) await this.begin(id);
      const due = nextDue(snapshot, limits, now);
      if (due) this.lookAgainIn(due.getTime() - now.getTime());
    } catch (error) {
      if (!(error instanceof UserError)) this.context.trouble("jobs could not be started", error);
      this.lookAgainIn(tryAgainAfter);
    }
  }

  /** A job that is being prepared takes its place already, though its record does not say so yet. */
  private asItIs(job: LiveJob): LiveJob {
    return this.active.has(job.id) ? { ...job, status: "running" } : job;
  }

  private concernsUs({ id, status }: LiveJob): boolean {
    return status === "running" || !this.only || this.only.has(id);
  }

  private async limits() {
    const { agents, fleet } = this.context.fleet();
    const pauses = this.only ? [] : await this.context.state.pauses.list();
    const paused = agents.filter(findPauses(this.context.environment(), pauses));
    return {
      fleet: fleet.max_concurrent,
      agents: new Map(agents.map((agent) => [agent.name, agent.max_concurrent])),
      paused: new Set(paused.map((agent) => agent.name)),
      servedAt: this.servedAt,
      notBefore: this.slowed?.until,
    };
  }

  private async begin(id: string): Promise<void> {
    const job = await this.context.state.jobs.get(id);
    const agent = this.context.fleet().agents.find(({ name }) => name === job?.agent);
    if (!job || !agent || !this.open) return;
    failPoint("job claimed");
    this.served += 1;
    this.servedAt.set(agent.name, this.served);
    const active = new ActiveJob(this.context, job);
    void this.track(active, active.start(agent));
  }

  private lookAgainIn(milliseconds: number): void {
    if (!this.open) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.kick(), Math.min(Math.max(milliseconds, 1), longestTimer));
  }
}
