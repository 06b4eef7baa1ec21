import { setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import type { Queue } from "../queue/contract.ts";
import { type SlowDown, slowDown } from "../queue/slow-down.ts";
import type { Job } from "../state/job.ts";
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

/** Nodes that look by the clock should not all do so at once. */
const jitter = 0.4;

/** Starts what may start, as soon as it may: after every event, and at the next due time. */
export class Dispatcher {
  readonly active = new Map<string, ActiveJob>();
  private readonly beginning = new Set<string>();
  private readonly servedAt = new Map<string, number>();
  private slowed: SlowDown | undefined;
  private served = 0;
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private again = false;
  /** Those that have come since the last look, as they were recorded. */
  private fresh = new Map<string, Job>();
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
    private readonly queue: Queue,
    /** For a fleet that starts only what is triggered here: whoever triggers is there to decide. */
    private readonly heedsPauses = true,
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

  /** Something changed: there may be a job to start, or there is most likely, since it is new. */
  kick(fresh: readonly Job[] = []): void {
    if (!this.open) return;
    for (const job of fresh) this.fresh.set(job.id, job);
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
      const limits = await this.limits();
      const [now, fresh] = [new Date(), this.fresh];
      this.fresh = new Map();
      const { here, nextDue, length } = await this.queue.handOut(limits, now, fresh.size > 0);
      if (length >= longQueue)
        this.rest = Math.min((performance.now() - began) * restPerLook, longestRest);
      for (const id of here) await this.begin(id, fresh.get(id));
      const { lookEvery } = this.queue;
      const waits = nextDue && nextDue.getTime() - now.getTime();
      const floor = lookEvery && lookEvery * (1 + jitter * (Math.random() - 0.5));
      if (waits || floor) this.lookAgainIn(Math.min(waits ?? longestTimer, floor ?? longestTimer));
    } catch (error) {
      if (!(error instanceof UserError)) this.context.trouble("jobs could not be started", error);
      this.lookAgainIn(tryAgainAfter);
    }
  }

  private async limits() {
    const { agents, fleet } = this.context.fleet();
    const pauses = this.heedsPauses ? await this.context.state.pauses.list() : [];
    const paused = agents.filter(findPauses(this.context.environment(), pauses));
    return {
      fleet: fleet.max_concurrent,
      agents: new Map(agents.map((agent) => [agent.name, agent.max_concurrent])),
      paused: new Set(paused.map((agent) => agent.name)),
      servedAt: this.servedAt,
      notBefore: this.slowed?.until,
    };
  }

  /**
   * The one road for what was claimed here and what others handed out. False when it is not ours.
   * One that was recorded just now is not read again, unless it was for others to hand it out.
   */
  async begin(id: string, fresh?: Job): Promise<boolean> {
    if (this.isActive(id)) return true;
    this.beginning.add(id);
    try {
      const isKnown = fresh !== undefined && this.queue.isOurs(fresh);
      const job = isKnown ? fresh : await this.context.state.jobs.get(id);
      const agent = this.context.fleet().agents.find(({ name }) => name === job?.agent);
      if (!job || !agent || !this.open || !this.queue.isOurs(job)) return false;
      failPoint("job claimed");
      this.served += 1;
      this.servedAt.set(agent.name, this.served);
      const active = new ActiveJob(this.context, job);
      void this.track(active, active.start(agent));
      return true;
    } finally {
      this.beginning.delete(id);
    }
  }

  /** It is under way here, though its record may not say so yet. */
  isActive(id: string): boolean {
    return this.active.has(id) || this.beginning.has(id);
  }

  private lookAgainIn(milliseconds: number): void {
    if (!this.open) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.kick(), Math.min(Math.max(milliseconds, 1), longestTimer));
  }
}
