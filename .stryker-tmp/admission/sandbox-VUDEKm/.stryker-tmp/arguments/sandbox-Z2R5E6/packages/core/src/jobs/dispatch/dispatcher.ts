import { setTimeout as delay } from "node:timers/promises";
import { type Job, type ShutdownOptions, UserError } from "@herdctl/protocol";
import { PassRunner } from "../../lib/pass-runner.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { ActiveJob } from "../attempts/active-job.ts";
import type { ActiveJobs, JobDispatcher, JobServices } from "../services.ts";
import { findPauses } from "./agent-pauses.ts";

const retryDelayMs = 1_000;
const maxTimerMs = 2 ** 31 - 1;

/** From this length on, a pass after every trigger would take too long. */
const longQueueLength = 500;
const restFactor = 4;
const maxRestMs = 500;

/** Nodes that poll should not all do so at the same moment. */
const jitterRatio = 0.4;

/** Starts jobs as soon as they may start: after every event, and at the next due time. */
export class Dispatcher implements JobDispatcher {
  private readonly servedAt = new Map<string, number>();
  private startCount = 0;
  private timer: NodeJS.Timeout | undefined;
  private readonly passes = new PassRunner(
    () => this.runPass().then(() => (this.restMs > 0 ? delay(this.restMs) : undefined)),
    () => this.open,
  );
  /** Jobs created since the last pass, as they were recorded. */
  private created = new Map<string, Job>();
  private restMs = 0;
  private open = false;
  private detached = false;
  private resolveOpened: () => void = () => undefined;
  /** Resolves when the first job may be started. */
  readonly opened = new Promise<void>((resolve) => {
    this.resolveOpened = resolve;
  });

  constructor(
    private readonly services: JobServices,
    /**
     * False for a fleet that starts only jobs triggered in this process, where a person can decide.
     */
    private readonly respectsPauses = true,
  ) {}

  get isOpen(): boolean {
    return this.open;
  }

  start(): void {
    this.open = true;
    this.resolveOpened();
    this.wake();
  }

  /** Starts no further jobs; running jobs continue. */
  halt(): void {
    this.open = false;
    clearTimeout(this.timer);
  }

  get isDetached(): boolean {
    return this.detached;
  }

  /** Detaches from running jobs, whose runners continue alone. */
  async detach(): Promise<void> {
    this.halt();
    this.detached = true;
    await this.passes.whenIdle();
    await Promise.all([...this.services.activeJobs.values()].map((job) => job.detach()));
  }

  /**
   * Looks for jobs to start, because something changed. `created` are jobs that were just recorded.
   */
  wake(created: readonly Job[] = []): void {
    if (!this.open) return;
    for (const job of created) this.created.set(job.id, job);
    this.passes.request();
  }

  /** Keeps a job among the active ones while `work` is pending. */
  track(job: ActiveJob, work: Promise<void>): Promise<void> {
    this.services.activeJobs.set(job.id, job);
    // Recovery found the job after `detach` had started.
    if (this.detached) void job.detach();
    return work
      .catch(async (error) => {
        this.services.reportError(`Failed to run ${job.id}`, error);
        // The job stays active for a while, so that it is not claimed again immediately.
        await delay(retryDelayMs, undefined, { ref: false });
      })
      .finally(() => {
        this.services.activeJobs.delete(job.id);
        this.wake();
      });
  }

  private async runPass(): Promise<void> {
    clearTimeout(this.timer);
    const startedAt = performance.now();
    this.restMs = 0;
    try {
      const limits = await this.limits();
      const [now, created] = [new Date(), this.created];
      this.created = new Map();
      const { startHere, nextDue, unfinishedCount } = await this.services.queue.assign(
        limits,
        now,
        created.size > 0,
      );
      if (unfinishedCount >= longQueueLength)
        this.restMs = Math.min((performance.now() - startedAt) * restFactor, maxRestMs);
      for (const id of startHere) await this.begin(id, created.get(id));
      const { pollIntervalMs } = this.services.queue;
      const dueInMs = nextDue && nextDue.getTime() - now.getTime();
      const maxWaitMs =
        pollIntervalMs && pollIntervalMs * (1 + jitterRatio * (Math.random() - 0.5));
      if (dueInMs || maxWaitMs)
        this.schedulePass(Math.min(dueInMs ?? maxTimerMs, maxWaitMs ?? maxTimerMs));
    } catch (error) {
      if (!(error instanceof UserError)) this.services.reportError("Failed to start jobs", error);
      this.schedulePass(retryDelayMs);
    }
  }

  private async limits() {
    const { agents, fleet } = this.services.fleet();
    const pauses = this.respectsPauses ? await this.services.state.pauses.list() : [];
    const paused = agents.filter(findPauses(this.services.environment(), pauses));
    return {
      fleet: fleet.max_concurrent,
      agents: new Map(agents.map((agent) => [agent.name, agent.max_concurrent])),
      paused: new Set(paused.map((agent) => agent.name)),
      servedAt: this.servedAt,
      notBefore: this.services.backoff.until,
    };
  }

  /**
   * The only way to start a job here, whether it was claimed here or assigned by another node.
   * Returns false if the job does not belong to this process. A job that was just recorded is not
   * read again, unless another node assigns jobs.
   */
  async begin(id: string, created?: Job): Promise<boolean> {
    const { activeJobs, queue } = this.services;
    if (activeJobs.isActive(id)) return true;
    activeJobs.starting.add(id);
    try {
      const isKnown = created !== undefined && queue.isOurs(created);
      const job = isKnown ? created : await this.services.state.jobs.get(id);
      const agent = this.services.fleet().agents.find(({ name }) => name === job?.agent);
      if (!job || !agent || !this.open || !queue.isOurs(job)) return false;
      failPoint("job claimed");
      this.startCount += 1;
      this.servedAt.set(agent.name, this.startCount);
      const active = new ActiveJob(this.services, job);
      void this.track(active, active.start(agent));
      return true;
    } finally {
      activeJobs.starting.delete(id);
    }
  }

  private schedulePass(milliseconds: number): void {
    if (!this.open) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.wake(), Math.min(Math.max(milliseconds, 1), maxTimerMs));
  }
}

const defaultDrainMs = 80_000;

const stopGraceMs = 10_000;

const pollIntervalMs = 25;

/**
 * Lets jobs finish, then asks the remaining ones to stop, then kills them. `hurrySignal` ends the
 * waiting.
 */
export async function drain(
  activeJobs: ActiveJobs,
  { drainMs = defaultDrainMs }: ShutdownOptions,
  hurrySignal: AbortSignal,
): Promise<void> {
  if (await waitUntilEmpty(activeJobs, drainMs, hurrySignal)) return;
  for (const job of activeJobs.values()) job.stop("interrupted");
  if (await waitUntilEmpty(activeJobs, stopGraceMs, hurrySignal)) return;
  for (const job of activeJobs.values()) job.stop("interrupted", true);
  await waitUntilEmpty(activeJobs, stopGraceMs);
}

async function waitUntilEmpty(
  activeJobs: ActiveJobs,
  timeoutMs: number,
  hurrySignal?: AbortSignal,
): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (activeJobs.size > 0 && Date.now() < deadline && !hurrySignal?.aborted)
    await delay(pollIntervalMs);
  return activeJobs.size === 0;
}
