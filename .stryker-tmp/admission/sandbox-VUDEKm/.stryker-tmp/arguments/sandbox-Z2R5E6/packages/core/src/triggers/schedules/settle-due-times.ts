import { createHash } from "node:crypto";
import type { MissedReason } from "@herdctl/protocol";
import { createDueTimes, type DueTimes } from "./due-times.ts";
import type { CatchUp, SchedulePlan } from "./schedule-plan.ts";

/** A plan in force and its recorded state. All times are in milliseconds. */
export interface ScheduleState {
  plan: SchedulePlan;
  catchUp: CatchUp;
  jitter?: Jitter;
  /** When the plan was first in force. */
  firstInForceAt: number;
  /** Every due time up to this moment is settled. */
  settledThrough: number;
  /** Later due times that are also settled, because the clock was set back since. */
  settledAhead: readonly number[];
  /** When the last run of the schedule ended, if one did. */
  lastEndMs?: number;
  /** A run of the schedule is in progress. */
  isRunning: boolean;
}

/**
 * The decision about due times. `settledThrough`: how far the plan is settled once the decision is
 * recorded.
 */
export type DueDecision =
  | { kind: "run"; due: number; settledThrough: number; isCatchUp: boolean }
  | ({ kind: "missed"; settledThrough: number; reason: MissedReason } & DueTimeSpan);

/** Consecutive due times. `count` is null if there are too many to count quickly. */
interface DueTimeSpan {
  first: number;
  last: number;
  count: number | null;
}

/** A start within this tolerance is on time, because busy machines delay timers. */
const onTimeToleranceMs = 60_000;
/** `catch_up: all` runs at most this many due times. */
const maxCatchUpRuns = 100;
const maxCountedDueTimes = 1_000;

/** The decisions about every due time that has come, in order. */
export function settleDueTimes(state: ScheduleState, now: number): DueDecision[] {
  const times = dueTimesFor(state, now);
  const last = lastStartableDueTime(state, times, now);
  if (last === undefined || last <= state.settledThrough) return [];
  const { runs, reason } = chooseRuns(state, times, last, now);
  const end = runs[0]?.due ?? Number.POSITIVE_INFINITY;
  const oldestAllowed = now - state.catchUp.windowMs;
  const missed = [
    ...missedDecisionsBetween(
      state,
      times,
      state.settledThrough,
      Math.min(end, oldestAllowed, last + 1),
      "too_old",
    ),
    ...missedDecisionsBetween(
      state,
      times,
      Math.max(state.settledThrough, oldestAllowed - 1),
      Math.min(end, last + 1),
      reason,
    ),
  ];
  return [...missed, ...runs].map((decision) => advanceIntervalPlan(state, decision, now));
}

/** The decisions about all open due times when a plan is no longer in force. */
export function abandonDueTimes(
  state: ScheduleState,
  reason: MissedReason,
  now: number,
): DueDecision[] {
  return missedDecisionsBetween(
    state,
    dueTimesFor(state, now),
    state.settledThrough,
    now + 1,
    reason,
  );
}

/** When to settle next; undefined if only an event can change that. */
export function nextStartTime(state: ScheduleState, now: number): number | undefined {
  const times = dueTimesFor(state, now);
  const due = nextUnsettled(state, times, state.settledThrough);
  return due === undefined ? undefined : startTimeOf(due, times, state.jitter);
}

/** The next due times, for display. */
export function upcomingDueTimes(state: ScheduleState, now: number, count: number): number[] {
  const times = dueTimesFor(state, now);
  const found: number[] = [];
  let due = nextUnsettled(state, times, state.settledThrough);
  while (due !== undefined && found.length < count) {
    found.push(due);
    due = nextUnsettled(state, times, due);
  }
  return found;
}

function dueTimesFor(
  { plan, firstInForceAt, settledThrough, lastEndMs, isRunning }: ScheduleState,
  now: number,
): DueTimes {
  // An end in the future was recorded before the clock was set back, so it does not count.
  const lastEnded = lastEndMs !== undefined && lastEndMs <= now ? lastEndMs : settledThrough;
  return createDueTimes(plan, {
    firstInForceAt,
    countsFrom: isRunning ? undefined : Math.max(lastEnded, settledThrough),
  });
}

function lastStartableDueTime(
  { jitter }: ScheduleState,
  times: DueTimes,
  now: number,
): number | undefined {
  const due = times.before(now + 1);
  if (due === undefined || startTimeOf(due, times, jitter) <= now) return due;
  return times.before(due);
}

interface RunChoice {
  runs: (DueDecision & { kind: "run" })[];
  /** Why earlier due times are not run. */
  reason: MissedReason;
}

/** Goes back from the last due time, so that nothing before a chosen run stays open. */
function chooseRuns(state: ScheduleState, times: DueTimes, last: number, now: number): RunChoice {
  const runs: RunChoice["runs"] = [];
  let due: number | undefined = last;
  for (; due !== undefined && due > state.settledThrough; due = times.before(due)) {
    if (state.settledAhead.includes(due)) continue;
    const isCatchUp = now - startTimeOf(due, times, state.jitter) > onTimeToleranceMs;
    const reason = reasonNotToRun(state.catchUp, {
      isCatchUp,
      age: now - due,
      chosenCount: runs.length,
    });
    if (reason) return { runs, reason };
    runs.unshift({ kind: "run", due, settledThrough: due, isCatchUp });
  }
  return { runs, reason: "superseded" };
}

function reasonNotToRun(
  { policy, windowMs }: CatchUp,
  { isCatchUp, age, chosenCount }: { isCatchUp: boolean; age: number; chosenCount: number },
): MissedReason | undefined {
  if (chosenCount >= maxCatchUpRuns) return "too_many";
  if (!isCatchUp) return undefined;
  if (age > windowMs) return "too_old";
  if (policy === "skip") return "not_caught_up";
  return policy === "latest" && chosenCount > 0 ? "superseded" : undefined;
}

/** Due times later than `after` and earlier than `end` that have no record. */
function missedDecisionsBetween(
  state: ScheduleState,
  times: DueTimes,
  after: number,
  end: number,
  reason: MissedReason,
): DueDecision[] {
  const settled = state.settledAhead
    .filter((due) => due > after && due < end)
    .sort((a, b) => a - b);
  const bounds = [after, ...settled, end];
  return bounds.slice(1).flatMap((bound, index) => {
    const span = spanBetween(state, times, bounds[index] ?? after, bound);
    return span ? [{ kind: "missed" as const, settledThrough: span.last, reason, ...span }] : [];
  });
}

function spanBetween(
  { plan }: ScheduleState,
  times: DueTimes,
  after: number,
  end: number,
): DueTimeSpan | undefined {
  const [first, last] = [times.after(after), times.before(end)];
  if (first === undefined || last === undefined || first > last) return undefined;
  if (plan.type === "interval" && plan.from === "start") {
    return { first, last, count: Math.round((last - first) / plan.every) + 1 };
  }
  let count = 1;
  for (let due = first; due < last && count <= maxCountedDueTimes; count++)
    due = times.after(due) ?? last;
  return { first, last, count: count > maxCountedDueTimes ? null : count };
}

/** An interval that counts from the end of a run continues from now, not from a time long past. */
function advanceIntervalPlan(
  { plan }: ScheduleState,
  decision: DueDecision,
  now: number,
): DueDecision {
  const countsFromEnd = plan.type === "interval" && plan.from === "end";
  return countsFromEnd
    ? { ...decision, settledThrough: Math.max(decision.settledThrough, now) }
    : decision;
}

function nextUnsettled(
  { settledAhead }: ScheduleState,
  times: DueTimes,
  after: number,
): number | undefined {
  let due = times.after(after);
  while (due !== undefined && settledAhead.includes(due)) due = times.after(due);
  return due;
}

/** How far starts are spread. With the name, a due time always gets the same delay. */
interface Jitter {
  maxDelayMs: number;
  name: string;
}

/** When a due time starts: always before the next due time, however far starts are spread. */
function startTimeOf(due: number, times: DueTimes, jitter: Jitter | undefined): number {
  if (!jitter) return due;
  const next = times.after(due) ?? Number.POSITIVE_INFINITY;
  const allowedDelayMs = Math.min(jitter.maxDelayMs, next - due);
  return due + Math.floor(hashToFraction(`${jitter.name} ${due}`) * allowedDelayMs);
}

/** A number from 0 up to, but not including, 1. */
function hashToFraction(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;
}
