import type { MarkedSchedule, MissedReason, ScheduleName } from "../state/due-time.ts";
import type { PlanChange, SettledDue } from "../state/schedule-store.ts";
import type { StateManager } from "../state/state-manager.ts";
import { wasSetBack } from "../triggers/schedule/clock-jump.ts";
import { isSamePlan, planSchema } from "../triggers/schedule/plan.ts";
import { giveUp, type Planned, type Verdict } from "../triggers/schedule/settle.ts";
import { formerPlan, keyOf, plannedOf, type TimedEntry } from "./timetable.ts";

export type Missed = Extract<Verdict, { kind: "missed" }>;

/**
 * Brings what is on record in line with the configuration. What came due before is not forgotten.
 * Where nodes share the state one whose configuration is not in force changes nothing, and has no
 * say in what comes due: nothing is planned there.
 */
export async function bringUpToDate(
  state: StateManager,
  entries: readonly TimedEntry[],
  now: Date,
  config?: string,
): Promise<{ entry: TimedEntry; planned: Planned }[]> {
  const marks = new Map((await state.schedules.marks()).map((mark) => [keyOf(mark), mark]));
  const inForce = entries.filter(({ enabled }) => enabled);
  const named = new Set(inForce.map(keyOf));
  const begun = inForce.filter((entry) => !isInForce(entry, marks.get(keyOf(entry))));
  const removed = [...marks.values()].filter((mark) => !named.has(keyOf(mark)));
  const changed = begun.flatMap((entry) => marks.get(keyOf(entry)) ?? []);
  const ended = [
    ...removed.map((mark) => endOf(mark, "removed", now)),
    ...changed.map((mark) => endOf(mark, "changed", now)),
  ];
  const isNothing = ended.length === 0 && begun.length === 0 && config === undefined;
  if (!isNothing && !(await state.schedules.change({ ended, begun, config }, now))) return [];
  for (const entry of begun) if (entry.plan.type === "at") await recordPast(state, entry, now);
  const planned: { entry: TimedEntry; planned: Planned }[] = [];
  for (const entry of inForce) {
    const mark = await readMark(state, entry, now);
    if (mark) planned.push({ entry, planned: plannedOf(entry, mark) });
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

function isInForce({ plan }: TimedEntry, mark: MarkedSchedule | undefined): boolean {
  const former = mark && planSchema.safeParse(mark.plan).data;
  return former !== undefined && isSamePlan(former, plan);
}

function endOf(mark: MarkedSchedule, reason: MissedReason, now: Date): PlanChange["ended"][number] {
  const former = formerPlan(mark);
  const verdicts = former ? giveUp(former, reason, now.getTime()) : [];
  const missed = verdicts.flatMap((one) =>
    one.kind === "missed" ? [missedRecord(mark, one)] : [],
  );
  return { mark, missed };
}

/** The one time of a schedule that is first seen when it is over: it is not run, but said so. */
async function recordPast(state: StateManager, entry: TimedEntry, now: Date): Promise<void> {
  const mark = await state.schedules.mark(entry);
  if (!mark) return;
  const whole = { ...plannedOf(entry, mark), through: Number.NEGATIVE_INFINITY };
  const missed = giveUp(whole, "already_past", now.getTime()).flatMap((one) =>
    one.kind === "missed" ? [missedRecord(entry, { ...one, through: now.getTime() })] : [],
  );
  const { agent, schedule } = entry;
  const { records } = await state.schedules.history({ agent, schedule, limit: 1000 });
  const isKnown = ({ due_at }: SettledDue) => records.some((one) => one.due_at === due_at);
  const news = missed.filter((one) => !isKnown(one));
  if (news.length > 0) await state.schedules.record(news);
}
