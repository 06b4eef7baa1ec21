import type { Fleet } from "../config/load.ts";
import type { DueRecord, MarkedSchedule } from "../state/due-time.ts";
import type { ChangedInterval } from "../state/one-shot.ts";
import type { StateManager } from "../state/state-manager.ts";
import { isSamePlan, planSchema } from "../triggers/schedule/plan.ts";
import { upcoming } from "../triggers/schedule/settle.ts";
import {
  keyOf,
  plannedOf,
  type Switches,
  switchOf,
  type TimedEntry,
  timedEntries,
} from "./timetable.ts";
import { withPlans } from "./with-plans.ts";

export interface ScheduleView {
  agent: string;
  schedule: string;
  type: "interval" | "cron" | "at" | "webhook";
  /** Such as `0 9 * * 1-5`, milliseconds of an interval in words, or the path of a webhook. */
  when: string;
  timezone: string | null;
  enabled: boolean;
  /** Switched by hand; else it is as the configuration says. */
  switched: boolean;
  overlap: string;
  /** Null for a webhook: what was not delivered cannot be caught up with. */
  catch_up: string | null;
  gate: boolean;
  /** The next due times, five at most; one that counts from the end of its run knows one. */
  next: string[];
  last: DueRecord | null;
  /** The job that planned it; null for what the configuration says. */
  planned_by: string | null;
  /** What an agent has planned to be told. */
  prompt: string | null;
  /** Its interval is not that of the configuration. */
  changed: boolean;
}

const shown = 5;

/** What can be said of schedules from the configuration and the state alone, whether or not a fleet runs. */
export async function viewSchedules(
  configured: Fleet,
  state: StateManager,
  now: Date,
): Promise<ScheduleView[]> {
  const [oneShots, intervals] = [
    await state.schedules.oneShots(),
    await state.schedules.intervals(),
  ];
  const fleet = withPlans(configured, oneShots, intervals);
  const marks = new Map((await state.schedules.marks()).map((mark) => [keyOf(mark), mark]));
  const switches = await state.schedules.switches();
  const entries = timedEntries(fleet, switches);
  const views: ScheduleView[] = viewWebhooks(fleet, switches);
  for (const entry of entries) {
    const { agent, schedule } = entry;
    const [last] = (await state.schedules.history({ agent, schedule, limit: 1 })).records;
    const oneShot = oneShots.find((one) => keyOf(one) === keyOf(entry));
    const changed = intervals.some((one) => isInForce(one, entry));
    views.push({
      ...viewOf(entry, marks.get(keyOf(entry)), last ?? null, now),
      planned_by: oneShot?.job_id ?? null,
      prompt: oneShot?.prompt ?? null,
      changed,
    });
  }
  const rank = new Map(fleet.agents.map(({ name }, index) => [name, index]));
  return views.sort((a, b) => (rank.get(a.agent) ?? 0) - (rank.get(b.agent) ?? 0));
}

function viewWebhooks({ agents }: Fleet, switches: Switches): ScheduleView[] {
  return agents.flatMap(({ name: agent, schedules }) =>
    Object.entries(schedules).flatMap(([schedule, config]) => {
      if (config.type !== "webhook") return [];
      const byHand = switchOf(switches, { agent, schedule });
      const on = { enabled: byHand ?? config.enabled, switched: byHand !== undefined };
      const { type, overlap } = config;
      const when = `POST /hooks/${agent}/${schedule}`;
      const times = { timezone: null, catch_up: null, next: [], last: null };
      const gate = config.gate !== undefined;
      return [{ agent, schedule, type, when, ...on, overlap, gate, ...times, ...asConfigured }];
    }),
  );
}

const asConfigured = { planned_by: null, prompt: null, changed: false };

function isInForce(changed: ChangedInterval, entry: TimedEntry): boolean {
  const { config } = entry;
  return (
    keyOf(changed) === keyOf(entry) &&
    config.type === "interval" &&
    config.every === changed.every &&
    changed.every !== changed.instead_of
  );
}

function viewOf(
  entry: TimedEntry,
  mark: MarkedSchedule | undefined,
  last: DueRecord | null,
  now: Date,
): Omit<ScheduleView, "planned_by" | "prompt" | "changed"> {
  const { agent, schedule, config, plan, enabled, switched } = entry;
  const planned = plannedOf(entry, markInForce(entry, mark, now));
  const next = enabled ? upcoming(planned, now.getTime(), shown) : [];
  return {
    agent,
    schedule,
    type: config.type,
    when: whenText(entry),
    timezone: plan.type === "interval" ? null : plan.timezone,
    enabled,
    switched,
    overlap: config.overlap,
    catch_up: config.catch_up,
    gate: config.gate !== undefined,
    next: next.map((due) => new Date(due).toISOString()),
    last,
  };
}

/** A plan that no fleet has seen yet begins when one does. */
function markInForce(
  { agent, schedule, plan }: TimedEntry,
  mark: MarkedSchedule | undefined,
  now: Date,
): MarkedSchedule {
  const known = mark && planSchema.safeParse(mark.plan).data;
  if (mark && known && isSamePlan(known, plan)) return mark;
  const since = now.toISOString();
  return { agent, schedule, plan, since, through: since, ahead: [], last_end: null, busy: false };
}

function whenText({ config }: TimedEntry): string {
  if (config.type === "cron") return config.cron;
  if (config.type === "at") return config.at;
  const seconds = config.every / 1000;
  const [size, unit] = units.find(([least]) => seconds >= least && seconds % least === 0) ?? [
    1,
    "s",
  ];
  return `every ${seconds / size}${unit} from ${config.from}`;
}

const units: [size: number, unit: string][] = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "m"],
];
