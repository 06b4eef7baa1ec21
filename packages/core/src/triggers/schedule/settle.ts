import type { MissedReason } from "../../state/due-time.ts";
import { type DueTimes, dueTimesOf } from "./due-times.ts";
import { type Jitter, startOf } from "./jitter.ts";
import type { CatchUp, Plan } from "./plan.ts";

/** A plan in force, and what is known of it. All times are moments in milliseconds. */
export interface Planned {
  plan: Plan;
  catchUp: CatchUp;
  jitter?: Jitter;
  /** When the plan was first in force. */
  since: number;
  /** Every due time up to here is settled. */
  through: number;
  /** Later due times that are settled all the same: the clock has been set back since. */
  ahead: readonly number[];
  /** When the last run of the schedule ended, if one did. */
  lastEnd?: number;
  /** A run of the schedule is not over. */
  busy: boolean;
}

/** What becomes of due times; `through` is how far the plan is settled once it is recorded. */
export type Verdict =
  | { kind: "run"; due: number; through: number; caughtUp: boolean }
  | ({ kind: "missed"; through: number; reason: MissedReason } & Span);

/** Due times in a row. So many are not counted that counting would take long. */
interface Span {
  first: number;
  last: number;
  count: number | null;
}

/** A start that is late by less was not missed: timers wait for nobody, but machines are busy. */
const onTime = 60_000;
/** `catch_up: all` runs no more than the last so many. */
const mostCaughtUp = 100;
const mostCounted = 1_000;

/** What to do about every due time that has come, in their order. */
export function settle(planned: Planned, now: number): Verdict[] {
  const times = timesOf(planned, now);
  const last = lastRipe(planned, times, now);
  if (last === undefined || last <= planned.through) return [];
  const { runs, reason } = chooseRuns(planned, times, last, now);
  const end = runs[0]?.due ?? Number.POSITIVE_INFINITY;
  const tooOld = now - planned.catchUp.window;
  const missed = [
    ...missedBetween(planned, times, planned.through, Math.min(end, tooOld, last + 1), "too_old"),
    ...missedBetween(
      planned,
      times,
      Math.max(planned.through, tooOld - 1),
      Math.min(end, last + 1),
      reason,
    ),
  ];
  return [...missed, ...runs].map((verdict) => advance(planned, verdict, now));
}

/** All that has come due and is not settled, when the plan ceases to be in force. */
export function giveUp(planned: Planned, reason: MissedReason, now: number): Verdict[] {
  return missedBetween(planned, timesOf(planned, now), planned.through, now + 1, reason);
}

/** When there is something to settle next; undefined if only an event can bring that. */
export function nextStart(planned: Planned, now: number): number | undefined {
  const times = timesOf(planned, now);
  const due = nextOpen(planned, times, planned.through);
  return due === undefined ? undefined : startOf(due, times, planned.jitter);
}

/** The next due times, for whoever wants to know. */
export function upcoming(planned: Planned, now: number, count: number): number[] {
  const times = timesOf(planned, now);
  const found: number[] = [];
  let due = nextOpen(planned, times, planned.through);
  while (due !== undefined && found.length < count) {
    found.push(due);
    due = nextOpen(planned, times, due);
  }
  return found;
}

function timesOf({ plan, since, through, lastEnd, busy }: Planned, now: number): DueTimes {
  // An end that lies ahead was written before the clock was set back and says nothing now.
  const ended = lastEnd !== undefined && lastEnd <= now ? lastEnd : through;
  return dueTimesOf(plan, { since, base: busy ? undefined : Math.max(ended, through) });
}

function lastRipe({ jitter }: Planned, times: DueTimes, now: number): number | undefined {
  const due = times.before(now + 1);
  if (due === undefined || startOf(due, times, jitter) <= now) return due;
  return times.before(due);
}

interface Choice {
  runs: (Verdict & { kind: "run" })[];
  /** Why those before them are not run. */
  reason: MissedReason;
}

/** From the last one back: whatever is run, nothing before it is left to be run later. */
function chooseRuns(planned: Planned, times: DueTimes, last: number, now: number): Choice {
  const runs: Choice["runs"] = [];
  let due: number | undefined = last;
  for (; due !== undefined && due > planned.through; due = times.before(due)) {
    if (planned.ahead.includes(due)) continue;
    const caughtUp = now - startOf(due, times, planned.jitter) > onTime;
    const reason = whyNot(planned.catchUp, { caughtUp, age: now - due, chosen: runs.length });
    if (reason) return { runs, reason };
    runs.unshift({ kind: "run", due, through: due, caughtUp });
  }
  return { runs, reason: "superseded" };
}

function whyNot(
  { policy, window }: CatchUp,
  { caughtUp, age, chosen }: { caughtUp: boolean; age: number; chosen: number },
): MissedReason | undefined {
  if (chosen >= mostCaughtUp) return "too_many";
  if (!caughtUp) return undefined;
  if (age > window) return "too_old";
  if (policy === "skip") return "not_caught_up";
  return policy === "latest" && chosen > 0 ? "superseded" : undefined;
}

/** Due times later than `after` and earlier than `end` that have no record yet. */
function missedBetween(
  planned: Planned,
  times: DueTimes,
  after: number,
  end: number,
  reason: MissedReason,
): Verdict[] {
  const settled = planned.ahead.filter((due) => due > after && due < end).sort((a, b) => a - b);
  const bounds = [after, ...settled, end];
  return bounds.slice(1).flatMap((bound, index) => {
    const span = spanBetween(planned, times, bounds[index] ?? after, bound);
    return span ? [{ kind: "missed" as const, through: span.last, reason, ...span }] : [];
  });
}

function spanBetween(
  { plan }: Planned,
  times: DueTimes,
  after: number,
  end: number,
): Span | undefined {
  const [first, last] = [times.after(after), times.before(end)];
  if (first === undefined || last === undefined || first > last) return undefined;
  if (plan.type === "interval" && plan.from === "start") {
    return { first, last, count: Math.round((last - first) / plan.every) + 1 };
  }
  let count = 1;
  for (let due = first; due < last && count <= mostCounted; count++) due = times.after(due) ?? last;
  return { first, last, count: count > mostCounted ? null : count };
}

/** What counts from the end of a run counts on from now, and not from a time long past. */
function advance({ plan }: Planned, verdict: Verdict, now: number): Verdict {
  const countsFromEnd = plan.type === "interval" && plan.from === "end";
  return countsFromEnd ? { ...verdict, through: Math.max(verdict.through, now) } : verdict;
}

function nextOpen({ ahead }: Planned, times: DueTimes, after: number): number | undefined {
  let due = times.after(after);
  while (due !== undefined && ahead.includes(due)) due = times.after(due);
  return due;
}
