import { Cron } from "croner";
import type { Plan } from "./plan.ts";
import { type Zone, zoneOf } from "./zone.ts";

/** The due times of a plan as moments in milliseconds, in order. */
export interface DueTimes {
  /** The first one later than this. */
  after(moment: number): number | undefined;
  /** The last one earlier than this. */
  before(moment: number): number | undefined;
}

/** What a plan that counts from its own runs has to know. */
export interface RunTimes {
  /** When the plan was first in force. */
  since: number;
  /** From when the next run of `from: end` is counted; undefined while one is not over. */
  base: number | undefined;
}

export function dueTimesOf(plan: Plan, { since, base }: RunTimes): DueTimes {
  if (plan.type === "cron") return cronTimes(plan.cron, zoneOf(plan.timezone));
  if (plan.type === "at") return only(momentOf(plan.at, zoneOf(plan.timezone)));
  if (plan.from === "start") return grid(since, plan.every);
  return only(base === undefined ? undefined : base + plan.every);
}

/**
 * Croner counts in wall times, which know no summer time; the zone says when each is first shown.
 * Left to itself, croner runs `*` hours a second time when the clock is set back.
 */
function cronTimes(expression: string, zone: Zone): DueTimes {
  const cron = cronOf(expression);
  return {
    after(moment) {
      const shown = Math.floor(zone.furthestShown(moment) / 1000) * 1000;
      const wall = cron.nextRun(new Date(shown));
      return wall ? zone.firstShowing(wall.getTime()) : undefined;
    },
    before(moment) {
      const notShown = Math.ceil((zone.furthestShown(moment - 1) + 1) / 1000) * 1000;
      const [wall] = cron.previousRuns(1, new Date(notShown));
      return wall ? zone.firstShowing(wall.getTime()) : undefined;
    },
  };
}

const crons = new Map<string, Cron>();

function cronOf(expression: string): Cron {
  const cron =
    crons.get(expression) ??
    new Cron(expression, { paused: true, mode: "5-or-6-parts", utcOffset: 0 });
  crons.set(expression, cron);
  return cron;
}

function only(due: number | undefined): DueTimes {
  return {
    after: (moment) => (due !== undefined && due > moment ? due : undefined),
    before: (moment) => (due !== undefined && due < moment ? due : undefined),
  };
}

function grid(anchor: number, every: number): DueTimes {
  return {
    after: (moment) => anchor + (Math.floor((moment - anchor) / every) + 1) * every,
    before: (moment) => anchor + (Math.ceil((moment - anchor) / every) - 1) * every,
  };
}

function momentOf(text: string, zone: Zone): number {
  const isAbsolute = /(Z|[+-]\d{2}:\d{2})$/.test(text);
  return isAbsolute ? Date.parse(text) : zone.firstShowing(Date.parse(`${text}Z`));
}
