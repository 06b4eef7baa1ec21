import type { Fleet } from "@herdctl/config";
import type { DueTimeRecord, ScheduleCursor, ScheduleRef, ScheduleView } from "@herdctl/protocol";
import type { IntervalOverride } from "../../store/model/agent-schedule.ts";
import type { StateManager } from "../../store/state-manager.ts";
import { applyAgentSchedules } from "./agent-schedules.ts";
import {
  overrideOf,
  type ScheduleEntry,
  type ScheduleOverrides,
  scheduleEntries,
  scheduleKey,
  scheduleStateOf,
} from "./schedule-entries.ts";
import { isSamePlan, schedulePlanSchema } from "./schedule-plan.ts";
import { upcomingDueTimes } from "./settle-due-times.ts";

const maxUpcoming = 5;

/** All schedules from the configuration and the state alone, whether or not a fleet runs. */
export async function viewSchedules(
  configured: Fleet,
  state: StateManager,
  now: Date,
): Promise<ScheduleView[]> {
  const [oneShots, intervals] = [
    await state.schedules.listOneShots(),
    await state.schedules.listIntervalOverrides(),
  ];
  const fleet = applyAgentSchedules(configured, oneShots, intervals);
  const cursors = new Map(
    (await state.schedules.listCursors()).map((cursor) => [scheduleKey(cursor), cursor]),
  );
  const switches = await state.schedules.listSwitches();
  const entries = scheduleEntries(fleet, switches);
  const views: ScheduleView[] = viewWebhookSchedules(fleet, switches);
  for (const entry of entries) {
    const { agent, schedule } = entry;
    const [last] = (await state.schedules.listDueRecords({ agent, schedule, limit: 1 })).due_times;
    const oneShot = oneShots.find((run) => scheduleKey(run) === scheduleKey(entry));
    const changed = intervals.some((interval) => isIntervalInForce(interval, entry));
    views.push({
      ...toScheduleView(entry, cursors.get(scheduleKey(entry)), last ?? null, now),
      scheduled_by: oneShot?.job_id ?? null,
      prompt: oneShot?.prompt ?? null,
      interval_changed: changed,
    });
  }
  const rank = new Map(fleet.agents.map(({ name }, index) => [name, index]));
  return views.sort((a, b) => (rank.get(a.agent) ?? 0) - (rank.get(b.agent) ?? 0));
}

/** When a schedule of a configuration that is not in force yet would be due; undefined if never. */
export function previewDueTimes(
  fleet: Fleet,
  name: ScheduleRef,
  now: Date,
  count: number,
): string[] | undefined {
  const entry = scheduleEntries(fleet, []).find((one) => scheduleKey(one) === scheduleKey(name));
  if (!entry) return undefined;
  const state = scheduleStateOf(entry, cursorInForce(entry, undefined, now));
  return upcomingDueTimes(state, now.getTime(), count).map((due) => new Date(due).toISOString());
}

function viewWebhookSchedules({ agents }: Fleet, switches: ScheduleOverrides): ScheduleView[] {
  return agents.flatMap(({ name: agent, schedules }) =>
    Object.entries(schedules).flatMap(([schedule, config]) => {
      if (config.type !== "webhook") return [];
      const override = overrideOf(switches, { agent, schedule });
      const switchState = {
        enabled: override ?? config.enabled,
        overridden: override !== undefined,
      };
      const { type, overlap } = config;
      const when = `POST /hooks/${agent}/${schedule}`;
      const times = { timezone: null, catch_up: null, next: [], last: null };
      const gate = config.gate !== undefined;
      return [
        {
          agent,
          schedule,
          type,
          when,
          ...switchState,
          overlap,
          gate,
          ...times,
          ...unscheduledDefaults,
        },
      ];
    }),
  );
}

const unscheduledDefaults = { scheduled_by: null, prompt: null, interval_changed: false };

function isIntervalInForce(changed: IntervalOverride, entry: ScheduleEntry): boolean {
  const { config } = entry;
  return (
    scheduleKey(changed) === scheduleKey(entry) &&
    config.type === "interval" &&
    config.every === changed.every &&
    changed.every !== changed.instead_of
  );
}

function toScheduleView(
  entry: ScheduleEntry,
  cursor: ScheduleCursor | undefined,
  last: DueTimeRecord | null,
  now: Date,
): Omit<ScheduleView, "scheduled_by" | "prompt" | "interval_changed"> {
  const { agent, schedule, config, plan, enabled, isOverridden } = entry;
  const planned = scheduleStateOf(entry, cursorInForce(entry, cursor, now));
  const next = enabled ? upcomingDueTimes(planned, now.getTime(), maxUpcoming) : [];
  return {
    agent,
    schedule,
    type: config.type,
    when: describeTiming(entry),
    timezone: plan.type === "interval" ? null : plan.timezone,
    enabled,
    overridden: isOverridden,
    overlap: config.overlap,
    catch_up: config.catch_up,
    gate: config.gate !== undefined,
    next: next.map((due) => new Date(due).toISOString()),
    last,
  };
}

/** A plan that no fleet process has seen yet starts now. */
function cursorInForce(
  { agent, schedule, plan }: ScheduleEntry,
  cursor: ScheduleCursor | undefined,
  now: Date,
): ScheduleCursor {
  const known = cursor && schedulePlanSchema.safeParse(cursor.plan).data;
  if (cursor && known && isSamePlan(known, plan)) return cursor;
  const since = now.toISOString();
  return {
    agent,
    schedule,
    plan,
    since,
    settled_through: since,
    settled_ahead: [],
    last_end: null,
    busy: false,
  };
}

function describeTiming({ config }: ScheduleEntry): string {
  if (config.type === "cron") return config.cron;
  if (config.type === "at") return config.at;
  const seconds = config.every / 1000;
  const [unitSeconds, unit] = units.find(
    ([minSeconds]) => seconds >= minSeconds && seconds % minSeconds === 0,
  ) ?? [1, "s"];
  return `every ${seconds / unitSeconds}${unit} from ${config.measured_from}`;
}

const units: [size: number, unit: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
];
