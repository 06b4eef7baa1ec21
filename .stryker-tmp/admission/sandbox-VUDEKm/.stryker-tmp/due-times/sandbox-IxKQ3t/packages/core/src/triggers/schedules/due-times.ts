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
export function createDueTimes(plan: SchedulePlan, {
  firstInForceAt,
  countsFrom
}: IntervalReference): DueTimes {
  if (stryMutAct_9fa48("74")) {
    {}
  } else {
    stryCov_9fa48("74");
    if (stryMutAct_9fa48("77") ? plan.type !== "cron" : stryMutAct_9fa48("76") ? false : stryMutAct_9fa48("75") ? true : (stryCov_9fa48("75", "76", "77"), plan.type === (stryMutAct_9fa48("78") ? "" : (stryCov_9fa48("78"), "cron")))) return cronDueTimes(plan.cron, timeZoneOf(plan.timezone));
    if (stryMutAct_9fa48("81") ? plan.type !== "at" : stryMutAct_9fa48("80") ? false : stryMutAct_9fa48("79") ? true : (stryCov_9fa48("79", "80", "81"), plan.type === (stryMutAct_9fa48("82") ? "" : (stryCov_9fa48("82"), "at")))) return singleDueTime(parseMoment(plan.at, timeZoneOf(plan.timezone)));
    if (stryMutAct_9fa48("85") ? plan.from !== "start" : stryMutAct_9fa48("84") ? false : stryMutAct_9fa48("83") ? true : (stryCov_9fa48("83", "84", "85"), plan.from === (stryMutAct_9fa48("86") ? "" : (stryCov_9fa48("86"), "start")))) return fixedIntervalDueTimes(firstInForceAt, plan.every);
    return singleDueTime((stryMutAct_9fa48("89") ? countsFrom !== undefined : stryMutAct_9fa48("88") ? false : stryMutAct_9fa48("87") ? true : (stryCov_9fa48("87", "88", "89"), countsFrom === undefined)) ? undefined : stryMutAct_9fa48("90") ? countsFrom - plan.every : (stryCov_9fa48("90"), countsFrom + plan.every));
  }
}

/**
 * Croner computes in wall time without daylight saving, and the time zone converts. If croner knew
 * the zone, it would run `*` hours twice when the clock is set back.
 */
function cronDueTimes(expression: string, zone: TimeZone): DueTimes {
  if (stryMutAct_9fa48("91")) {
    {}
  } else {
    stryCov_9fa48("91");
    const cron = cachedCron(expression);
    return stryMutAct_9fa48("92") ? {} : (stryCov_9fa48("92"), {
      after(moment) {
        if (stryMutAct_9fa48("93")) {
          {}
        } else {
          stryCov_9fa48("93");
          const shownWallTime = stryMutAct_9fa48("94") ? Math.floor(zone.latestWallTime(moment) / 1000) / 1000 : (stryCov_9fa48("94"), Math.floor(stryMutAct_9fa48("95") ? zone.latestWallTime(moment) * 1000 : (stryCov_9fa48("95"), zone.latestWallTime(moment) / 1000)) * 1000);
          const wallTime = cron.nextRun(new Date(shownWallTime));
          return wallTime ? zone.firstInstantAt(wallTime.getTime()) : undefined;
        }
      },
      before(moment) {
        if (stryMutAct_9fa48("96")) {
          {}
        } else {
          stryCov_9fa48("96");
          const nextWallTime = stryMutAct_9fa48("97") ? Math.ceil((zone.latestWallTime(moment - 1) + 1) / 1000) / 1000 : (stryCov_9fa48("97"), Math.ceil(stryMutAct_9fa48("98") ? (zone.latestWallTime(moment - 1) + 1) * 1000 : (stryCov_9fa48("98"), (stryMutAct_9fa48("99") ? zone.latestWallTime(moment - 1) - 1 : (stryCov_9fa48("99"), zone.latestWallTime(stryMutAct_9fa48("100") ? moment + 1 : (stryCov_9fa48("100"), moment - 1)) + 1)) / 1000)) * 1000);
          const [wallTime] = cron.previousRuns(1, new Date(nextWallTime));
          return wallTime ? zone.firstInstantAt(wallTime.getTime()) : undefined;
        }
      }
    });
  }
}
const cronCache = new Map<string, Cron>();
function cachedCron(expression: string): Cron {
  if (stryMutAct_9fa48("101")) {
    {}
  } else {
    stryCov_9fa48("101");
    const cron = stryMutAct_9fa48("102") ? cronCache.get(expression) && new Cron(expression, {
      paused: true,
      mode: "5-or-6-parts",
      utcOffset: 0
    }) : (stryCov_9fa48("102"), cronCache.get(expression) ?? new Cron(expression, stryMutAct_9fa48("103") ? {} : (stryCov_9fa48("103"), {
      paused: stryMutAct_9fa48("104") ? false : (stryCov_9fa48("104"), true),
      mode: stryMutAct_9fa48("105") ? "" : (stryCov_9fa48("105"), "5-or-6-parts"),
      utcOffset: 0
    })));
    if (stryMutAct_9fa48("106")) {
      ;
    } else {
      stryCov_9fa48("106");
      cronCache.set(expression, cron);
    }
    return cron;
  }
}
function singleDueTime(due: number | undefined): DueTimes {
  if (stryMutAct_9fa48("107")) {
    {}
  } else {
    stryCov_9fa48("107");
    return stryMutAct_9fa48("108") ? {} : (stryCov_9fa48("108"), {
      after: stryMutAct_9fa48("109") ? () => undefined : (stryCov_9fa48("109"), moment => (stryMutAct_9fa48("112") ? due !== undefined || due > moment : stryMutAct_9fa48("111") ? false : stryMutAct_9fa48("110") ? true : (stryCov_9fa48("110", "111", "112"), (stryMutAct_9fa48("114") ? due === undefined : stryMutAct_9fa48("113") ? true : (stryCov_9fa48("113", "114"), due !== undefined)) && (stryMutAct_9fa48("117") ? due <= moment : stryMutAct_9fa48("116") ? due >= moment : stryMutAct_9fa48("115") ? true : (stryCov_9fa48("115", "116", "117"), due > moment)))) ? due : undefined),
      before: stryMutAct_9fa48("118") ? () => undefined : (stryCov_9fa48("118"), moment => (stryMutAct_9fa48("121") ? due !== undefined || due < moment : stryMutAct_9fa48("120") ? false : stryMutAct_9fa48("119") ? true : (stryCov_9fa48("119", "120", "121"), (stryMutAct_9fa48("123") ? due === undefined : stryMutAct_9fa48("122") ? true : (stryCov_9fa48("122", "123"), due !== undefined)) && (stryMutAct_9fa48("126") ? due >= moment : stryMutAct_9fa48("125") ? due <= moment : stryMutAct_9fa48("124") ? true : (stryCov_9fa48("124", "125", "126"), due < moment)))) ? due : undefined)
    });
  }
}
function fixedIntervalDueTimes(anchor: number, every: number): DueTimes {
  if (stryMutAct_9fa48("127")) {
    {}
  } else {
    stryCov_9fa48("127");
    return stryMutAct_9fa48("128") ? {} : (stryCov_9fa48("128"), {
      after: stryMutAct_9fa48("129") ? () => undefined : (stryCov_9fa48("129"), moment => stryMutAct_9fa48("130") ? anchor - (Math.floor((moment - anchor) / every) + 1) * every : (stryCov_9fa48("130"), anchor + (stryMutAct_9fa48("131") ? (Math.floor((moment - anchor) / every) + 1) / every : (stryCov_9fa48("131"), (stryMutAct_9fa48("132") ? Math.floor((moment - anchor) / every) - 1 : (stryCov_9fa48("132"), Math.floor(stryMutAct_9fa48("133") ? (moment - anchor) * every : (stryCov_9fa48("133"), (stryMutAct_9fa48("134") ? moment + anchor : (stryCov_9fa48("134"), moment - anchor)) / every)) + 1)) * every)))),
      before: stryMutAct_9fa48("135") ? () => undefined : (stryCov_9fa48("135"), moment => stryMutAct_9fa48("136") ? anchor - (Math.ceil((moment - anchor) / every) - 1) * every : (stryCov_9fa48("136"), anchor + (stryMutAct_9fa48("137") ? (Math.ceil((moment - anchor) / every) - 1) / every : (stryCov_9fa48("137"), (stryMutAct_9fa48("138") ? Math.ceil((moment - anchor) / every) + 1 : (stryCov_9fa48("138"), Math.ceil(stryMutAct_9fa48("139") ? (moment - anchor) * every : (stryCov_9fa48("139"), (stryMutAct_9fa48("140") ? moment + anchor : (stryCov_9fa48("140"), moment - anchor)) / every)) - 1)) * every))))
    });
  }
}
function parseMoment(text: string, zone: TimeZone): number {
  if (stryMutAct_9fa48("141")) {
    {}
  } else {
    stryCov_9fa48("141");
    const isAbsolute = (stryMutAct_9fa48("147") ? /(Z|[+-]\d{2}:\D{2})$/ : stryMutAct_9fa48("146") ? /(Z|[+-]\d{2}:\d)$/ : stryMutAct_9fa48("145") ? /(Z|[+-]\D{2}:\d{2})$/ : stryMutAct_9fa48("144") ? /(Z|[+-]\d:\d{2})$/ : stryMutAct_9fa48("143") ? /(Z|[^+-]\d{2}:\d{2})$/ : stryMutAct_9fa48("142") ? /(Z|[+-]\d{2}:\d{2})/ : (stryCov_9fa48("142", "143", "144", "145", "146", "147"), /(Z|[+-]\d{2}:\d{2})$/)).test(text);
    return isAbsolute ? Date.parse(text) : zone.firstInstantAt(Date.parse(stryMutAct_9fa48("148") ? `` : (stryCov_9fa48("148"), `${text}Z`)));
  }
}