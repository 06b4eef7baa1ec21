import type { Fleet, ResolvedAgent } from "@herdctl/config";
import type { ScheduleCursor, ScheduleRef } from "@herdctl/protocol";
import { isTimed } from "../../jobs/admission/timed-schedule.ts";
import {
  type CatchUp,
  type SchedulePlan,
  schedulePlanOf,
  schedulePlanSchema,
} from "./schedule-plan.ts";
import type { ScheduleState } from "./settle-due-times.ts";

type Schedule = ResolvedAgent["schedules"][string];

/** A configured schedule, and whether it is on. */
export interface ScheduleEntry extends ScheduleRef {
  config: Extract<Schedule, { type: "interval" | "cron" | "at" }>;
  plan: SchedulePlan;
  /** A gate or a work source comes before its runs, which may take long. */
  isGated: boolean;
  enabled: boolean;
  /** A person switched it. */
  isOverridden: boolean;
}

export type ScheduleOverrides = readonly (ScheduleRef & { enabled: boolean })[];

/** Every timed schedule, in the order of the configuration. */
export function scheduleEntries(
  { agents, fleet }: Fleet,
  overrides: ScheduleOverrides,
): ScheduleEntry[] {
  const switched = new Map(
    overrides.map((candidate) => [scheduleKey(candidate), candidate.enabled]),
  );
  return agents.flatMap(({ name: agent, schedules, work_source }) =>
    Object.entries(schedules).flatMap(([schedule, config]) => {
      if (!isTimed(config)) return [];
      const override = switched.get(scheduleKey({ agent, schedule }));
      return [
        {
          agent,
          schedule,
          config,
          plan: schedulePlanOf(config, fleet.timezone),
          isGated: config.gate !== undefined || work_source !== undefined,
          enabled: override ?? config.enabled,
          isOverridden: override !== undefined,
        },
      ];
    }),
  );
}

/** The state to which a person switched the schedule; undefined if no one did. */
export function overrideOf(overrides: ScheduleOverrides, { agent, schedule }: ScheduleRef) {
  return overrides.find((candidate) => candidate.agent === agent && candidate.schedule === schedule)
    ?.enabled;
}

/** The input for decisions: the configuration and the record. */
export function scheduleStateOf(entry: ScheduleEntry, cursor: ScheduleCursor): ScheduleState {
  const { agent, schedule, config, plan } = entry;
  const catchUp = { policy: config.catch_up, windowMs: config.catch_up_window };
  const jitter = config.jitter && {
    maxDelayMs: config.jitter,
    name: scheduleKey({ agent, schedule }),
  };
  return { ...toScheduleState(cursor, plan, catchUp), ...(jitter ? { jitter } : {}) };
}

/** The recorded plan of a schedule that is no longer configured; undefined if it cannot be read. */
export function recordedScheduleState(cursor: ScheduleCursor): ScheduleState | undefined {
  const { data: plan } = schedulePlanSchema.safeParse(cursor.plan);
  return plan && toScheduleState(cursor, plan, { policy: "skip", windowMs: 0 });
}

export function scheduleKey({ agent, schedule }: ScheduleRef): string {
  return `${agent}/${schedule}`;
}

function toScheduleState(
  cursor: ScheduleCursor,
  plan: SchedulePlan,
  catchUp: CatchUp,
): ScheduleState {
  return {
    plan,
    catchUp,
    firstInForceAt: Date.parse(cursor.since),
    settledThrough: Date.parse(cursor.settled_through),
    settledAhead: cursor.settled_ahead.map((time) => Date.parse(time)),
    isRunning: cursor.busy,
    ...(cursor.last_end === null ? {} : { lastEndMs: Date.parse(cursor.last_end) }),
  };
}
