import { Cron } from "croner";
import { type TimeZone, timeZoneOf } from "../../lib/time-zone.ts";
import type { SchedulePlan } from "./schedule-plan.ts";

/** The due times of a plan, in milliseconds and in order. */
export interface DueTimes {
  /** The first due time after `moment`. */
  after(moment: number): number | undefined;
  /** The last due time before `moment`. */
  before(moment: number): number | undefined;
}

/** The times that interval plans count from. */
export interface IntervalReference {
  /** When the plan was first in force. */
  firstInForceAt: number;
  /** Start of the next interval for `measured_from: end`; undefined while a run is in progress. */
  countsFrom: number | undefined;
}

export function createDueTimes(
  plan: SchedulePlan,
  { firstInForceAt, countsFrom }: IntervalReference,
): DueTimes {
  if (plan.type === "cron") return cronDueTimes(plan.cron, timeZoneOf(plan.timezone));
  if (plan.type === "at") return singleDueTime(parseMoment(plan.at, timeZoneOf(plan.timezone)));
  if (plan.from === "start") return fixedIntervalDueTimes(firstInForceAt, plan.every);
  return singleDueTime(countsFrom === undefined ? undefined : countsFrom + plan.every);
}

/**
 * Croner computes in wall time without daylight saving, and the time zone converts. If croner knew
 * the zone, it would run `*` hours twice when the clock is set back.
 */
function cronDueTimes(expression: string, zone: TimeZone): DueTimes {
  const cron = cachedCron(expression);
  return {
    after(moment) {
      const shownWallTime = Math.floor(zone.latestWallTime(moment) / 1000) * 1000;
      const wallTime = cron.nextRun(new Date(shownWallTime));
      return wallTime ? zone.firstInstantAt(wallTime.getTime()) : undefined;
    },
    before(moment) {
      const nextWallTime = Math.ceil((zone.latestWallTime(moment - 1) + 1) / 1000) * 1000;
      const [wallTime] = cron.previousRuns(1, new Date(nextWallTime));
      return wallTime ? zone.firstInstantAt(wallTime.getTime()) : undefined;
    },
  };
}

const cronCache = new Map<string, Cron>();

function cachedCron(expression: string): Cron {
  const cron =
    cronCache.get(expression) ??
    new Cron(expression, { paused: true, mode: "5-or-6-parts", utcOffset: 0 });
  cronCache.set(expression, cron);
  return cron;
}

function singleDueTime(due: number | undefined): DueTimes {
  return {
    after: (moment) => (due !== undefined && due > moment ? due : undefined),
    before: (moment) => (due !== undefined && due < moment ? due : undefined),
  };
}

function fixedIntervalDueTimes(anchor: number, every: number): DueTimes {
  return {
    after: (moment) => anchor + (Math.floor((moment - anchor) / every) + 1) * every,
    before: (moment) => anchor + (Math.ceil((moment - anchor) / every) - 1) * every,
  };
}

function parseMoment(text: string, zone: TimeZone): number {
  const isAbsolute = /(Z|[+-]\d{2}:\d{2})$/.test(text);
  return isAbsolute ? Date.parse(text) : zone.firstInstantAt(Date.parse(`${text}Z`));
}
