function stryNS_9fa48() {
  var g = typeof globalThis === 'object' && globalThis && globalThis.Math === Math && globalThis || new Function("return this")();
  var ns = g.__stryker__ || (g.__stryker__ = {});
  if (ns.activeMutant === undefined && g.process && g.process.env && g.process.env.__STRYKER_ACTIVE_MUTANT__) {
    ns.activeMutant = g.process.env.__STRYKER_ACTIVE_MUTANT__;
  }
  function retrieveNS() {
    return ns;
  }
  stryNS_9fa48 = retrieveNS;
  return retrieveNS();
}
stryNS_9fa48();
function stryCov_9fa48() {
  var ns = stryNS_9fa48();
  var cov = ns.mutantCoverage || (ns.mutantCoverage = {
    static: {},
    perTest: {}
  });
  function cover() {
    var c = cov.static;
    if (ns.currentTestId) {
      c = cov.perTest[ns.currentTestId] = cov.perTest[ns.currentTestId] || {};
    }
    var a = arguments;
    for (var i = 0; i < a.length; i++) {
      c[a[i]] = (c[a[i]] || 0) + 1;
    }
  }
  stryCov_9fa48 = cover;
  cover.apply(null, arguments);
}
function stryMutAct_9fa48(id) {
  var ns = stryNS_9fa48();
  function isActive(id) {
    if (ns.activeMutant === id) {
      if (ns.hitCount !== void 0 && ++ns.hitCount > ns.hitLimit) {
        throw new Error('Stryker: Hit count limit reached (' + ns.hitCount + ')');
      }
      return true;
    }
    return false;
  }
  stryMutAct_9fa48 = isActive;
  return isActive(id);
}
import { z } from "zod";
import type { TimedSchedule } from "../../jobs/admission/timed-schedule.ts";
import { machineTimezone } from "../../lib/time-zone.ts";

/**
 * The settings that decide when a schedule comes due. They are recorded, because changed settings
 * are a new plan.
 */
export const schedulePlanSchema = z.discriminatedUnion(stryMutAct_9fa48("149") ? "" : (stryCov_9fa48("149"), "type"), stryMutAct_9fa48("150") ? [] : (stryCov_9fa48("150"), [z.object(stryMutAct_9fa48("151") ? {} : (stryCov_9fa48("151"), {
  type: z.literal(stryMutAct_9fa48("152") ? "" : (stryCov_9fa48("152"), "cron")),
  cron: z.string(),
  timezone: z.string()
})), z.object(stryMutAct_9fa48("153") ? {} : (stryCov_9fa48("153"), {
  type: z.literal(stryMutAct_9fa48("154") ? "" : (stryCov_9fa48("154"), "interval")),
  every: z.number(),
  from: z.enum(stryMutAct_9fa48("155") ? [] : (stryCov_9fa48("155"), [stryMutAct_9fa48("156") ? "" : (stryCov_9fa48("156"), "end"), stryMutAct_9fa48("157") ? "" : (stryCov_9fa48("157"), "start")]))
})), z.object(stryMutAct_9fa48("158") ? {} : (stryCov_9fa48("158"), {
  type: z.literal(stryMutAct_9fa48("159") ? "" : (stryCov_9fa48("159"), "at")),
  at: z.string(),
  timezone: z.string()
}))]));
export type SchedulePlan = z.infer<typeof schedulePlanSchema>;

/** How due times are handled that could not be run in time. */
export interface CatchUp {
  policy: TimedSchedule["catch_up"];
  windowMs: number;
}
export function schedulePlanOf(schedule: TimedSchedule, fleetTimezone: string | undefined): SchedulePlan {
  if (stryMutAct_9fa48("160")) {
    {}
  } else {
    stryCov_9fa48("160");
    if (stryMutAct_9fa48("163") ? schedule.type !== "interval" : stryMutAct_9fa48("162") ? false : stryMutAct_9fa48("161") ? true : (stryCov_9fa48("161", "162", "163"), schedule.type === (stryMutAct_9fa48("164") ? "" : (stryCov_9fa48("164"), "interval")))) {
      if (stryMutAct_9fa48("165")) {
        {}
      } else {
        stryCov_9fa48("165");
        return stryMutAct_9fa48("166") ? {} : (stryCov_9fa48("166"), {
          type: stryMutAct_9fa48("167") ? "" : (stryCov_9fa48("167"), "interval"),
          every: schedule.every,
          from: schedule.measured_from
        });
      }
    }
    const timezone = stryMutAct_9fa48("168") ? (schedule.timezone ?? fleetTimezone) && machineTimezone() : (stryCov_9fa48("168"), (stryMutAct_9fa48("169") ? schedule.timezone && fleetTimezone : (stryCov_9fa48("169"), schedule.timezone ?? fleetTimezone)) ?? machineTimezone());
    return (stryMutAct_9fa48("172") ? schedule.type !== "cron" : stryMutAct_9fa48("171") ? false : stryMutAct_9fa48("170") ? true : (stryCov_9fa48("170", "171", "172"), schedule.type === (stryMutAct_9fa48("173") ? "" : (stryCov_9fa48("173"), "cron")))) ? stryMutAct_9fa48("174") ? {} : (stryCov_9fa48("174"), {
      type: stryMutAct_9fa48("175") ? "" : (stryCov_9fa48("175"), "cron"),
      cron: schedule.cron,
      timezone
    }) : stryMutAct_9fa48("176") ? {} : (stryCov_9fa48("176"), {
      type: stryMutAct_9fa48("177") ? "" : (stryCov_9fa48("177"), "at"),
      at: schedule.at,
      timezone
    });
  }
}
export function isSamePlan(a: SchedulePlan, b: SchedulePlan): boolean {
  if (stryMutAct_9fa48("178")) {
    {}
  } else {
    stryCov_9fa48("178");
    return stryMutAct_9fa48("181") ? JSON.stringify(schedulePlanSchema.parse(a)) !== JSON.stringify(schedulePlanSchema.parse(b)) : stryMutAct_9fa48("180") ? false : stryMutAct_9fa48("179") ? true : (stryCov_9fa48("179", "180", "181"), JSON.stringify(schedulePlanSchema.parse(a)) === JSON.stringify(schedulePlanSchema.parse(b)));
  }
}