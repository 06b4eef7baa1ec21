import type { MissedReason, ScheduleCursor, ScheduleRef } from "@herdctl/protocol";
import type { SchedulePlanChange, SettledDueTime } from "../../store/sql/schedule-store.ts";
import type { StateManager } from "../../store/state-manager.ts";
import {
  recordedScheduleState,
  type ScheduleEntry,
  scheduleKey,
  scheduleStateOf,
} from "./schedule-entries.ts";
import { isSamePlan, schedulePlanSchema } from "./schedule-plan.ts";
import { abandonDueTimes, type DueDecision, type ScheduleState } from "./settle-due-times.ts";

type MissedDecision = Extract<DueDecision, { kind: "missed" }>;

/**
 * Brings the recorded schedules in line with the configuration, and keeps due times that came
 * before. Where nodes share the state, a node whose configuration is not in force changes and plans
 * nothing.
 */
export async function reconcileSchedules(
  state: StateManager,
  entries: readonly ScheduleEntry[],
  now: Date,
  configHash?: string,
): Promise<{ entry: ScheduleEntry; planned: ScheduleState }[]> {
  const cursors = new Map(
    (await state.schedules.listCursors()).map((cursor) => [scheduleKey(cursor), cursor]),
  );
  const inForce = entries.filter(({ enabled }) => enabled);
  const enabledKeys = new Set(inForce.map(scheduleKey));
  const newEntries = inForce.filter((entry) => !isInForce(entry, cursors.get(scheduleKey(entry))));
  const removed = [...cursors.values()].filter((cursor) => !enabledKeys.has(scheduleKey(cursor)));
  const changed = newEntries.flatMap((entry) => cursors.get(scheduleKey(entry)) ?? []);
  const ended = [
    ...removed.map((cursor) => endSchedule(cursor, "removed", now)),
    ...changed.map((cursor) => endSchedule(cursor, "changed", now)),
  ];
  const isNothing = ended.length === 0 && newEntries.length === 0 && configHash === undefined;
  if (
    !isNothing &&
    !(await state.schedules.applyPlanChange({ removed: ended, added: newEntries, configHash }, now))
  )
    return [];
  for (const entry of newEntries)
    if (entry.plan.type === "at") await recordAlreadyPast(state, entry, now);
  const planned: { entry: ScheduleEntry; planned: ScheduleState }[] = [];
  for (const entry of inForce) {
    const cursor = await readCursor(state, entry, now);
    if (cursor) planned.push({ entry, planned: scheduleStateOf(entry, cursor) });
  }
  return planned;
}

/** The recorded cursor, corrected if the clock was set back since. */
export async function readCursor(
  state: StateManager,
  name: ScheduleRef,
  now: Date,
): Promise<ScheduleCursor | undefined> {
  const cursor = await state.schedules.getCursor(name);
  if (!cursor || !wasSetBack(Date.parse(cursor.settled_through), now.getTime())) return cursor;
  await state.schedules.reopenMissed(name, now);
  return state.schedules.getCursor(name);
}

export function missedRecord(name: ScheduleRef, missed: MissedDecision): SettledDueTime {
  const { first, last, count, reason, settledThrough } = missed;
  return {
    agent: name.agent,
    schedule: name.schedule,
    due_at: toIsoString(first),
    last_due_at: toIsoString(last),
    count,
    result: "missed",
    reason,
    through: toIsoString(settledThrough),
  };
}

export function toIsoString(moment: number): string {
  return new Date(moment).toISOString();
}

function isInForce({ plan }: ScheduleEntry, cursor: ScheduleCursor | undefined): boolean {
  const recordedTiming = cursor && schedulePlanSchema.safeParse(cursor.plan).data;
  return recordedTiming !== undefined && isSamePlan(recordedTiming, plan);
}

function endSchedule(
  cursor: ScheduleCursor,
  reason: MissedReason,
  now: Date,
): SchedulePlanChange["removed"][number] {
  const formerState = recordedScheduleState(cursor);
  const decisions = formerState ? abandonDueTimes(formerState, reason, now.getTime()) : [];
  const missed = decisions.flatMap((decision) =>
    decision.kind === "missed" ? [missedRecord(cursor, decision)] : [],
  );
  return { entry: cursor, missed };
}

/**
 * Records the time of a one-time schedule that had passed when it was first seen. It is not run.
 */
async function recordAlreadyPast(
  state: StateManager,
  entry: ScheduleEntry,
  now: Date,
): Promise<void> {
  const cursor = await state.schedules.getCursor(entry);
  if (!cursor) return;
  const sinceBeginning = {
    ...scheduleStateOf(entry, cursor),
    settledThrough: Number.NEGATIVE_INFINITY,
  };
  const decisions = abandonDueTimes(sinceBeginning, "already_past", now.getTime());
  const missed = decisions.flatMap((decision) =>
    decision.kind === "missed"
      ? [missedRecord(entry, { ...decision, settledThrough: now.getTime() })]
      : [],
  );
  const { agent, schedule } = entry;
  const { due_times } = await state.schedules.listDueRecords({ agent, schedule, limit: 1000 });
  const isKnown = ({ due_at }: SettledDueTime) =>
    due_times.some((record) => record.due_at === due_at);
  const newRecords = missed.filter((record) => !isKnown(record));
  if (newRecords.length > 0) await state.schedules.recordSettled(newRecords);
}

/**
 * Time servers make smaller steps. They are ignored: settled due times stay settled, and none is
 * lost.
 */
const ignoredClockStepMs = 60_000;

/** A larger step means that the clock had not been set, as on a board without a battery. */
const maxPlausibleClockStepMs = 366 * 86_400_000;

/**
 * Whether the clock was set back since a plan was settled. Due times that were recorded as missed
 * while the clock was ahead are then decided again.
 */
export function wasSetBack(settledThroughMs: number, now: number): boolean {
  const aheadMs = settledThroughMs - now;
  return aheadMs > ignoredClockStepMs && aheadMs < maxPlausibleClockStepMs;
}
