import { setImmediate as breathe, setTimeout as delay } from "node:timers/promises";
import { UserError } from "../errors/user-error.ts";
import { failPoint } from "../faults/fail-point.ts";
import type { Admission, Candidate } from "../queue/admit.ts";
import type { DueRecord, ScheduleName } from "../state/due-time.ts";
import type { Job } from "../state/job.ts";
import {
  nextStart,
  type Planned,
  settle,
  upcoming,
  type Verdict,
} from "../triggers/schedule/settle.ts";
import { beforeAdmission } from "./before-admission.ts";
import type { FleetContext } from "./context.ts";
import { candidateOf, type DueRun, groupsOf, mostAtOnce, type Step, stepsOf } from "./due-steps.ts";
import { findPauses } from "./pauses.ts";
import { bringUpToDate, iso, readMark } from "./plan-book.ts";
import { keyOf, plannedOf, type TimedEntry, timedEntries } from "./timetable.ts";

/**
 * Node's timers count the time that the machine was awake and know nothing of the clock being set.
 * So no timer is longer than this, and when it ends early one number is compared: no schedule is
 * looked at before one of them is due. It also keeps clear of the longest delay Node takes.
 */
const longestWait = 30_000;
const tryAgainAfter = 1_000;

interface Slot {
  entry: TimedEntry;
  planned: Planned;
  next: number | undefined;
  /** Its gate is being asked; nothing else of it is settled meanwhile. */
  atGate: boolean;
}

export interface ClockFrame {
  context: FleetContext;
  /** What agents have planned is read from the state again. */
  readPlans(): Promise<void>;
  trigger(candidates: readonly Candidate[]): Promise<Admission[]>;
}

/** Brings every due time of every schedule to the queue, or into the ledger, once. */
export class ScheduleClock {
  private slots = new Map<string, Slot>();
  private readonly stale = new Set<string>();
  private readonly gates = new Set<Promise<void>>();
  private atGates = new AbortController();
  private stopped = false;
  private timer: NodeJS.Timeout | undefined;
  private passing: Promise<void> | undefined;
  private again = false;
  private replans = false;
  private lastSeen = 0;

  constructor(private readonly frame: ClockFrame) {
    const { hub } = frame.context;
    const noted = ({ job }: { job: Job }) => this.heed(job);
    for (const type of jobEvents) hub.on(type, noted);
  }

  /** The configuration, or what is switched on, has changed. Resolves when it is in force. */
  async replan(): Promise<void> {
    this.replans = true;
    this.kick();
    while (this.passing) await this.passing;
  }

  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.passing;
    await this.leaveGates();
  }

  /** When each schedule comes due next, the soonest first. */
  next(): (ScheduleName & { due_at: string })[] {
    const now = Date.now();
    return [...this.slots.values()]
      .flatMap(({ entry: { agent, schedule }, planned }) => {
        const [due] = upcoming(planned, now, 1);
        return due === undefined ? [] : [{ agent, schedule, due_at: iso(due) }];
      })
      .sort((a, b) => (a.due_at < b.due_at ? -1 : Number(a.due_at > b.due_at)));
  }

  /** A schedule that counts from the end of its runs has to know of them. */
  private heed({ agent, schedule }: Job): void {
    if (schedule === null) return;
    const key = keyOf({ agent, schedule });
    const plan = this.slots.get(key)?.planned.plan;
    if (plan?.type !== "interval" || plan.from !== "end") return;
    this.stale.add(key);
    this.kick();
  }

  private kick(): void {
    if (this.stopped) return;
    if (this.passing) {
      this.again = true;
      return;
    }
    this.passing = this.pass().finally(() => {
      this.passing = undefined;
      if (!this.again) return;
      this.again = false;
      this.kick();
    });
  }

  private async pass(): Promise<void> {
    clearTimeout(this.timer);
    try {
      if (this.replans) await this.plan();
      await this.refresh();
      await this.settleRipe();
      this.wakeAt(this.soonest());
    } catch (error) {
      if (!isFull(error)) this.frame.context.trouble("due times could not be settled", error);
      this.wakeAt(Date.now() + tryAgainAfter);
    }
  }

  private async plan(): Promise<void> {
    const { state, fleet, configPrint, site } = this.frame.context;
    await this.leaveGates();
    // What agents have planned on another node may not have been heard of here.
    if (site) await this.frame.readPlans();
    const switches = await state.schedules.switches();
    const entries = timedEntries(fleet(), switches);
    const inForce = await bringUpToDate(state, entries, new Date(), configPrint());
    // A gate is asked, and work taken, by one node only.
    const ours = inForce.filter(({ entry }) => !entry.asks || this.frame.context.isLead());
    this.slots = new Map(ours.map((one) => [keyOf(one.entry), this.slotOf(one)]));
    this.stale.clear();
    this.replans = false;
  }

  private slotOf({ entry, planned }: { entry: TimedEntry; planned: Planned }): Slot {
    return { entry, planned, next: nextStart(planned, Date.now()), atGate: false };
  }

  /** Reads again what others changed: runs that ended, and all of it when the clock was set back. */
  private async refresh(): Promise<void> {
    const now = new Date();
    const wasSetBack = now.getTime() < this.lastSeen - tryAgainAfter;
    this.lastSeen = now.getTime();
    const keys = wasSetBack ? [...this.slots.keys()] : [...this.stale];
    this.stale.clear();
    for (const key of keys) {
      const slot = this.slots.get(key);
      const mark = slot && (await readMark(this.frame.context.state, slot.entry, now));
      if (!slot || !mark || slot.atGate) continue;
      this.slots.set(key, this.slotOf({ entry: slot.entry, planned: plannedOf(slot.entry, mark) }));
    }
  }

  private async settleRipe(): Promise<void> {
    const now = Date.now();
    const ripe = [...this.slots.values()].filter(
      ({ next, atGate }) => next !== undefined && next <= now && !atGate,
    );
    const settled: { entry: TimedEntry; verdicts: Verdict[] }[] = [];
    for await (const { entry, planned } of unhurried(ripe)) {
      settled.push({ entry, verdicts: settle(planned, now) });
    }
    const steps = stepsOf(settled, await this.pausedAgents(ripe));
    for (const group of groupsOf(steps)) {
      if (this.stopped) return;
      await this.take(group);
      await breathe();
    }
    // A due time may have come to nothing that is to be settled now; then it is looked at anew.
    for await (const { entry } of unhurried(ripe)) this.wait(entry);
  }

  private async take(group: readonly Step[]): Promise<void> {
    const runs = group.flatMap((step) => (step.kind === "run" ? [step] : []));
    const gated = runs.filter(({ entry }) => entry.asks);
    if (gated[0]) return this.visitGate(gated[0]);
    if (runs.length > 0) return this.run(runs, runs.map(candidateOf));
    const records = group.flatMap((step) => (step.kind === "record" ? [step.record] : []));
    this.tell(await this.frame.context.state.schedules.record(records));
    for (const { entry, through } of group) this.advance(entry, through);
  }

  private async run(runs: readonly DueRun[], candidates: readonly Candidate[]): Promise<void> {
    failPoint("schedule due");
    const admissions = await this.frame.trigger(candidates);
    for (const [index, { entry, through }] of runs.entries()) {
      const status = admissions[index]?.job.status;
      this.advance(entry, through, status !== "skipped");
    }
  }

  /** A gate may take its time: the other schedules do not wait for it. */
  private visitGate(step: DueRun): void {
    const slot = this.slots.get(keyOf(step.entry));
    if (!slot || slot.atGate) return;
    slot.atGate = true;
    const { signal } = this.atGates;
    const visit = async () => {
      const candidate = await beforeAdmission(this.frame.context, candidateOf(step), signal);
      if (!signal.aborted) await this.run([step], [candidate]);
    };
    const visiting = visit()
      .catch((error) => this.holdUp(`the gate of ${keyOf(step.entry)} failed`, error))
      .finally(() => {
        this.gates.delete(visiting);
        slot.atGate = false;
        this.wait(step.entry);
        this.kick();
      });
    this.gates.add(visiting);
  }

  /** What stands at a gate is not settled: it comes again when this is over. */
  private async leaveGates(): Promise<void> {
    this.atGates.abort();
    await Promise.all(this.gates);
    this.atGates = new AbortController();
  }

  private async holdUp(what: string, error: unknown): Promise<void> {
    if (!isFull(error)) this.frame.context.trouble(what, error);
    await delay(tryAgainAfter);
  }

  private async pausedAgents(ripe: readonly Slot[]): Promise<ReadonlySet<string>> {
    if (ripe.length === 0) return new Set();
    const { state, fleet, environment } = this.frame.context;
    const pauseOf = findPauses(environment(), await state.pauses.list());
    const paused = fleet().agents.filter(pauseOf);
    return new Set(paused.map(({ name }) => name));
  }

  private advance(entry: TimedEntry, through: string, busy = false): void {
    const slot = this.slots.get(keyOf(entry));
    if (!slot) return;
    const settled = Math.max(slot.planned.through, Date.parse(through));
    slot.planned = { ...slot.planned, through: settled, busy: slot.planned.busy || busy };
    this.wait(entry);
  }

  private wait(entry: TimedEntry): void {
    const slot = this.slots.get(keyOf(entry));
    if (slot) slot.next = slot.atGate ? undefined : nextStart(slot.planned, Date.now());
  }

  private tell(records: readonly DueRecord[]): void {
    for (const due of records) this.frame.context.hub.emit({ type: "schedule:not_run", due });
  }

  private soonest(): number {
    let soonest = Number.POSITIVE_INFINITY;
    for (const { next } of this.slots.values()) {
      if (next !== undefined && next < soonest) soonest = next;
    }
    return soonest;
  }

  private wakeAt(moment: number): void {
    if (this.stopped || (this.slots.size === 0 && !this.replans)) return;
    const left = moment - Date.now();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(moment), Math.min(Math.max(left, 1), longestWait));
  }

  private look(moment: number): void {
    const now = Date.now();
    const isTime = now >= moment || now < this.lastSeen - tryAgainAfter;
    if (isTime) this.kick();
    else {
      this.lastSeen = now;
      this.wakeAt(moment);
    }
  }
}

/** Thousands may be due at once: after every few, others have their turn. */
async function* unhurried<T>(all: readonly T[]): AsyncGenerator<T> {
  for (const [index, one] of all.entries()) {
    if (index % mostAtOnce === 0) await breathe();
    yield one;
  }
}

/** The fleet says so in its status by itself. */
function isFull(error: unknown): boolean {
  return error instanceof UserError && error.code === "state_unavailable";
}

const jobEvents = [
  "job:created",
  "job:completed",
  "job:failed",
  "job:cancelled",
  "job:skipped",
] as const;
