import type { SettledDue } from "../state/contract.ts";
import type { MarkedSchedule, ScheduleName } from "../state/due-time.ts";
import type { StateManager } from "../state/state-manager.ts";
import { wasSetBack } from "../triggers/schedule/clock-jump.ts";
import { isSamePlan, planSchema } from "../triggers/schedule/plan.ts";
import {
  giveUp,
  type MissedReason,
  type Planned,
  type Verdict,
} from "../triggers/schedule/settle.ts";
import { formerPlan, keyOf, plannedOf, type TimedEntry } from "./timetable.ts";

export type Missed = Extract<Verdict, { kind: "missed" }>;

/** Brings what is on record in line with the configuration. What came due before is not forgotten. */
export async function bringUpToDate(
  state: StateManager,
  entries: readonly TimedEntry[],
  now: Date,
): Promise<{ entry: TimedEntry; planned: Planned }[]> {
  const marks = new Map((await state.schedules.marks()).map((mark) => [keyOf(mark), mark]));
  const inForce = entries.filter(({ enabled }) => enabled);
  const named = new Set(inForce.map(keyOf));
  for (const [key, mark] of marks) if (!named.has(key)) await end(state, mark, "removed", now);
  const planned: { entry: TimedEntry; planned: Planned }[] = [];
  for (const entry of inForce) {
    const mark = await markOf(state, entry, marks.get(keyOf(entry)), now);
    planned.push({ entry, planned: plannedOf(entry, mark) });
  }
  return planned;
}

/** As it is on record now, after what the clock did since. */
export async function readMark(
  state: StateManager,
  name: ScheduleName,
  now: Date,
): Promise<MarkedSchedule | undefined> {
  const mark = await state.schedules.mark(name);
  if (!mark || !wasSetBack(Date.parse(mark.through), now.getTime())) return mark;
  await state.schedules.reopen(name, now);
  return state.schedules.mark(name);
}

export function missedRecord(name: ScheduleName, missed: Missed): SettledDue {
  const { first, last, count, reason, through } = missed;
  return {
    agent: name.agent,
    schedule: name.schedule,
    due_at: iso(first),
    until: iso(last),
    count,
    result: "missed",
    reason,
    through: iso(through),
  };
}

export function iso(moment: number): string {
  return new Date(moment).toISOString();
}

async function markOf(
  state: StateManager,
  entry: TimedEntry,
  mark: MarkedSchedule | undefined,
  now: Date,
): Promise<MarkedSchedule> {
  const former = mark && planSchema.safeParse(mark.plan).data;
  if (mark && former && isSamePlan(former, entry.plan)) {
    return (await readMark(state, entry, now)) ?? mark;
  }
  if (mark) await end(state, mark, "changed", now);
  const { agent, schedule, plan } = entry;
  await state.schedules.plan({ agent, schedule }, plan, now);
  await state.schedules.reopen(entry, now);
  await recordPast(state, entry, now);
  const begun = await state.schedules.mark(entry);
  if (!begun) throw new Error(`${keyOf(entry)} could not be planned`);
  return begun;
}

async function end(
  state: StateManager,
  mark: MarkedSchedule,
  reason: MissedReason,
  now: Date,
): Promise<void> {
  const former = formerPlan(mark);
  const verdicts = former ? giveUp(former, reason, now.getTime()) : [];
  const missed = verdicts.flatMap((one) => (one.kind === "missed" ? [one] : []));
  await state.schedules.record(missed.map((one) => missedRecord(mark, one)));
  await state.schedules.forget(mark);
}

/** The one time of a schedule that is first seen when it is over: it is not run, but said so. */
async function recordPast(state: StateManager, entry: TimedEntry, now: Date): Promise<void> {
  if (entry.plan.type !== "at") return;
  const mark = await state.schedules.mark(entry);
  if (!mark) return;
  const whole = { ...plannedOf(entry, mark), through: Number.NEGATIVE_INFINITY };
  const known = await state.schedules.history({
    agent: entry.agent,
    schedule: entry.schedule,
    limit: 1000,
  });
  const missed = giveUp(whole, "already_past", now.getTime()).flatMap((one) =>
    one.kind === "missed" && !known.records.some(({ due_at }) => due_at === iso(one.first))
      ? [one]
      : [],
  );
  await state.schedules.record(missed.map((one) => missedRecord(entry, one)));
}
