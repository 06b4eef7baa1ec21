import type { Fleet } from "../config/load.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import type { MarkedSchedule, ScheduleName } from "../state/due-time.ts";
import { type CatchUp, isTimed, type Plan, planOf, planSchema } from "../triggers/schedule/plan.ts";
import type { Planned } from "../triggers/schedule/settle.ts";

type Schedule = ResolvedAgent["schedules"][string];

/** A schedule as the configuration has it, and whether it is on. */
export interface TimedEntry extends ScheduleName {
  config: Extract<Schedule, { type: "interval" | "cron" | "at" }>;
  plan: Plan;
  /** A gate or a work source has to be asked before it runs, which may take its time. */
  asks: boolean;
  enabled: boolean;
  /** Somebody switched it by hand. */
  switched: boolean;
}

export type Switches = readonly (ScheduleName & { enabled: boolean })[];

/** Every schedule that goes by the clock, in the order in which they are written. */
export function timedEntries({ agents, fleet }: Fleet, switches: Switches): TimedEntry[] {
  const switched = new Map(switches.map((one) => [keyOf(one), one.enabled]));
  return agents.flatMap(({ name: agent, schedules, work_source }) =>
    Object.entries(schedules).flatMap(([schedule, config]) => {
      if (!isTimed(config)) return [];
      const byHand = switched.get(keyOf({ agent, schedule }));
      return [
        {
          agent,
          schedule,
          config,
          plan: planOf(config, fleet.timezone),
          asks: config.gate !== undefined || work_source !== undefined,
          enabled: byHand ?? config.enabled,
          switched: byHand !== undefined,
        },
      ];
    }),
  );
}

/** What somebody switched it to by hand, if anybody did. */
export function switchOf(switches: Switches, { agent, schedule }: ScheduleName) {
  return switches.find((one) => one.agent === agent && one.schedule === schedule)?.enabled;
}

/** What is to be decided from: the configuration's words and what is on record. */
export function plannedOf(entry: TimedEntry, mark: MarkedSchedule): Planned {
  const { agent, schedule, config, plan } = entry;
  const catchUp = { policy: config.catch_up, window: config.catch_up_window };
  const jitter = config.jitter && { within: config.jitter, name: keyOf({ agent, schedule }) };
  return { ...recordedPlan(mark, plan, catchUp), ...(jitter ? { jitter } : {}) };
}

/** A plan that is no longer in the configuration, as it was recorded; undefined if it cannot be read. */
export function formerPlan(mark: MarkedSchedule): Planned | undefined {
  const { data: plan } = planSchema.safeParse(mark.plan);
  return plan && recordedPlan(mark, plan, { policy: "skip", window: 0 });
}

export function keyOf({ agent, schedule }: ScheduleName): string {
  return `${agent}/${schedule}`;
}

function recordedPlan(mark: MarkedSchedule, plan: Plan, catchUp: CatchUp): Planned {
  return {
    plan,
    catchUp,
    since: Date.parse(mark.since),
    through: Date.parse(mark.through),
    ahead: mark.ahead.map((time) => Date.parse(time)),
    busy: mark.busy,
    ...(mark.last_end === null ? {} : { lastEnd: Date.parse(mark.last_end) }),
  };
}
