import { setTimeout as delay, setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { DueTimeRecord, Job, ScheduleRef } from "@herdctl/protocol";
import type { Candidate } from "../../jobs/admission/admit.ts";
import { prepareCandidate } from "../../jobs/admission/trigger-job.ts";
import { findPauses } from "../../jobs/dispatch/agent-pauses.ts";
import type { JobServices } from "../../jobs/services.ts";
import { PassRunner } from "../../lib/pass-runner.ts";
import { isStoreUnavailable } from "../../lib/retry.ts";
import type { AdmissionResult } from "../../store/model/admission.ts";
import { failPoint } from "../../testing/failpoints.ts";
import {
  actionsFor,
  batchActions,
  candidateFor,
  type DueAction,
  type DueRun,
  maxBatchSize,
} from "./due-actions.ts";
import { readCursor, reconcileSchedules, toIsoString } from "./reconcile-schedules.ts";
import {
  type ScheduleEntry,
  scheduleEntries,
  scheduleKey,
  scheduleStateOf,
} from "./schedule-entries.ts";
import {
  type DueDecision,
  nextStartTime,
  type ScheduleState,
  settleDueTimes,
  upcomingDueTimes,
} from "./settle-due-times.ts";

/**
 * Node's timers count only the time while the machine is awake, and ignore changes of the clock. So
 * no timer is longer than this. When it ends early, one number is compared; schedules are read only
 * when one of them is due. This also stays below the longest delay of Node's timers.
 */
const maxTimerMs = 30_000;
const retryDelayMs = 1_000;

interface TrackedSchedule {
  entry: ScheduleEntry;
  planned: ScheduleState;
  nextStartMs: number | undefined;
  /** Its gate is running; nothing else of the schedule is settled meanwhile. */
  isAtGate: boolean;
}

export interface ScheduleClockDeps {
  services: JobServices;
  /** Reads the schedules of agents from the state again. */
  readAgentSchedules(): Promise<void>;
  trigger(candidates: readonly Candidate[]): Promise<AdmissionResult[]>;
}

/** Triggers or records every due time of every schedule exactly once. */
export class ScheduleClock {
  private tracked = new Map<string, TrackedSchedule>();
  private readonly staleKeys = new Set<string>();
  private readonly openGates = new Set<Promise<void>>();
  private gateAbort = new AbortController();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly passes = new PassRunner(
    () => this.runPass(),
    () => !this.stopped,
  );
  private needsReplan = false;
  private lastSeenMs = 0;

  constructor(private readonly deps: ScheduleClockDeps) {
    const { hub } = deps.services;
    const onJob = ({ job }: { job: Job }) => this.onJobEvent(job);
    for (const type of jobEvents) hub.on(type, onJob);
  }

  /**
   * Call it when the configuration or a switch has changed. Resolves when the change is in force.
   */
  async replan(): Promise<void> {
    this.needsReplan = true;
    this.wake();
    await this.passes.whenIdle();
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.passes.whenIdle();
    await this.abortGates();
  }

  /** The next due time of each schedule, soonest first. */
  next(): (ScheduleRef & { due_at: string })[] {
    const now = Date.now();
    return [...this.tracked.values()]
      .flatMap(({ entry: { agent, schedule }, planned }) => {
        const [due] = upcomingDueTimes(planned, now, 1);
        return due === undefined ? [] : [{ agent, schedule, due_at: toIsoString(due) }];
      })
      .sort((a, b) => (a.due_at < b.due_at ? -1 : Number(a.due_at > b.due_at)));
  }

  /** Schedules that count from the end of their runs are updated when a run starts or ends. */
  private onJobEvent({ agent, schedule }: Job): void {
    if (schedule === null) return;
    const key = scheduleKey({ agent, schedule });
    const plan = this.tracked.get(key)?.planned.plan;
    if (plan?.type !== "interval" || plan.from !== "end") return;
    this.staleKeys.add(key);
    this.wake();
  }

  private wake(): void {
    this.passes.request();
  }

  private async runPass(): Promise<void> {
    clearTimeout(this.timer);
    try {
      if (this.needsReplan) await this.plan();
      await this.refresh();
      await this.settleDue();
      this.scheduleWake(this.soonestStartMs());
    } catch (error) {
      // The status of the fleet already shows this problem.
      if (!isStoreUnavailable(error))
        this.deps.services.reportError("Failed to settle due times", error);
      this.scheduleWake(Date.now() + retryDelayMs);
    }
  }

  private async plan(): Promise<void> {
    const { state, fleet, configHash, cluster } = this.deps.services;
    await this.abortGates();
    // Schedules that agents changed on another node may not be known here.
    if (cluster) await this.deps.readAgentSchedules();
    const switches = await state.schedules.listSwitches();
    const entries = scheduleEntries(fleet(), switches);
    const reconciled = await reconcileSchedules(state, entries, new Date(), configHash());
    // Only one node runs gates and claims work items.
    const ours = reconciled.filter(({ entry }) => !entry.isGated || this.deps.services.isLeader());
    this.tracked = new Map(
      ours.map((schedule) => [scheduleKey(schedule.entry), this.track(schedule)]),
    );
    this.staleKeys.clear();
    this.needsReplan = false;
  }

  private track({
    entry,
    planned,
  }: {
    entry: ScheduleEntry;
    planned: ScheduleState;
  }): TrackedSchedule {
    return { entry, planned, nextStartMs: nextStartTime(planned, Date.now()), isAtGate: false };
  }

  /**
   * Reads changed cursors again: those of ended runs, and all of them when the clock was set back.
   */
  private async refresh(): Promise<void> {
    const now = new Date();
    const wasSetBack = now.getTime() < this.lastSeenMs - retryDelayMs;
    this.lastSeenMs = now.getTime();
    const keys = wasSetBack ? [...this.tracked.keys()] : [...this.staleKeys];
    this.staleKeys.clear();
    for (const key of keys) {
      const trackedSchedule = this.tracked.get(key);
      const cursor =
        trackedSchedule && (await readCursor(this.deps.services.state, trackedSchedule.entry, now));
      if (!trackedSchedule || !cursor || trackedSchedule.isAtGate) continue;
      this.tracked.set(
        key,
        this.track({
          entry: trackedSchedule.entry,
          planned: scheduleStateOf(trackedSchedule.entry, cursor),
        }),
      );
    }
  }

  private async settleDue(): Promise<void> {
    const now = Date.now();
    const dueStates = [...this.tracked.values()].filter(
      ({ nextStartMs, isAtGate }) => nextStartMs !== undefined && nextStartMs <= now && !isAtGate,
    );
    const settled: { entry: ScheduleEntry; decisions: DueDecision[] }[] = [];
    for await (const { entry, planned } of yieldingIterator(dueStates)) {
      settled.push({ entry, decisions: settleDueTimes(planned, now) });
    }
    const actions = actionsFor(settled, await this.pausedAgents(dueStates));
    for (const batch of batchActions(actions)) {
      if (this.stopped) return;
      await this.processBatch(batch);
      await yieldToEventLoop();
    }
    // A due time may need no decision now; its next start is then computed again.
    for await (const { entry } of yieldingIterator(dueStates)) this.updateNextStart(entry);
  }

  private async processBatch(batch: readonly DueAction[]): Promise<void> {
    const runs = batch.flatMap((action) => (action.kind === "run" ? [action] : []));
    const gated = runs.filter(({ entry }) => entry.isGated);
    if (gated[0]) return this.runGate(gated[0]);
    if (runs.length > 0) return this.run(runs, runs.map(candidateFor));
    const records = batch.flatMap((action) => (action.kind === "record" ? [action.record] : []));
    this.emitNotRun(await this.deps.services.state.schedules.recordSettled(records));
    for (const { entry, through } of batch) this.advance(entry, through);
  }

  private async run(runs: readonly DueRun[], candidates: readonly Candidate[]): Promise<void> {
    failPoint("schedule due");
    const admissions = await this.deps.trigger(candidates);
    for (const [index, { entry, through }] of runs.entries()) {
      const status = admissions[index]?.job.status;
      this.advance(entry, through, status !== "skipped");
    }
  }

  /** A gate may take long, so the other schedules do not wait for it. */
  private runGate(action: DueRun): void {
    const trackedSchedule = this.tracked.get(scheduleKey(action.entry));
    if (!trackedSchedule || trackedSchedule.isAtGate) return;
    trackedSchedule.isAtGate = true;
    const { signal } = this.gateAbort;
    const gateThenRun = async () => {
      const candidate = await prepareCandidate(this.deps.services, candidateFor(action), signal);
      if (!signal.aborted) await this.run([action], [candidate]);
    };
    const gateRun = gateThenRun()
      .catch((error) =>
        this.reportAndDelay(`Failed to run the gate of ${scheduleKey(action.entry)}`, error),
      )
      .finally(() => {
        this.openGates.delete(gateRun);
        trackedSchedule.isAtGate = false;
        this.updateNextStart(action.entry);
        this.wake();
      });
    this.openGates.add(gateRun);
  }

  /** Runs that wait for a gate are not settled, so they come due again. */
  private async abortGates(): Promise<void> {
    this.gateAbort.abort();
    await Promise.all(this.openGates);
    this.gateAbort = new AbortController();
  }

  private async reportAndDelay(message: string, error: unknown): Promise<void> {
    if (!isStoreUnavailable(error)) this.deps.services.reportError(message, error);
    await delay(retryDelayMs);
  }

  private async pausedAgents(dueStates: readonly TrackedSchedule[]): Promise<ReadonlySet<string>> {
    if (dueStates.length === 0) return new Set();
    const { state, fleet, environment } = this.deps.services;
    const pauseOf = findPauses(environment(), await state.pauses.list());
    const paused = fleet().agents.filter(pauseOf);
    return new Set(paused.map(({ name }) => name));
  }

  private advance(entry: ScheduleEntry, through: string, busy = false): void {
    const trackedSchedule = this.tracked.get(scheduleKey(entry));
    if (!trackedSchedule) return;
    const settled = Math.max(trackedSchedule.planned.settledThrough, Date.parse(through));
    trackedSchedule.planned = {
      ...trackedSchedule.planned,
      settledThrough: settled,
      isRunning: trackedSchedule.planned.isRunning || busy,
    };
    this.updateNextStart(entry);
  }

  private updateNextStart(entry: ScheduleEntry): void {
    const trackedSchedule = this.tracked.get(scheduleKey(entry));
    if (trackedSchedule)
      trackedSchedule.nextStartMs = trackedSchedule.isAtGate
        ? undefined
        : nextStartTime(trackedSchedule.planned, Date.now());
  }

  private emitNotRun(records: readonly DueTimeRecord[]): void {
    for (const due of records) this.deps.services.hub.emit({ type: "schedule:not_run", due });
  }

  private soonestStartMs(): number {
    let soonestStartMs = Number.POSITIVE_INFINITY;
    for (const { nextStartMs } of this.tracked.values()) {
      if (nextStartMs !== undefined && nextStartMs < soonestStartMs) soonestStartMs = nextStartMs;
    }
    return soonestStartMs;
  }

  private scheduleWake(moment: number): void {
    if (this.stopped || (this.tracked.size === 0 && !this.needsReplan)) return;
    const remainingMs = moment - Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.onTimer(moment),
      Math.min(Math.max(remainingMs, 1), maxTimerMs),
    );
  }

  private onTimer(moment: number): void {
    const now = Date.now();
    const isDue = now >= moment || now < this.lastSeenMs - retryDelayMs;
    if (isDue) this.wake();
    else {
      this.lastSeenMs = now;
      this.scheduleWake(moment);
    }
  }
}

/** Thousands of schedules may be due together; after every few, other work gets its turn. */
async function* yieldingIterator<T>(all: readonly T[]): AsyncGenerator<T> {
  for (const [index, item] of all.entries()) {
    if (index % maxBatchSize === 0) await yieldToEventLoop();
    yield item;
  }
}

const jobEvents = [
  "job:created",
  "job:completed",
  "job:failed",
  "job:cancelled",
  "job:skipped",
] as const;
