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
import { createHash } from "node:crypto";
import type { MissedReason } from "@herdctl/protocol";
import { createDueTimes, type DueTimes } from "./due-times.ts";
import type { CatchUp, SchedulePlan } from "./schedule-plan.ts";

/** A plan in force and its recorded state. All times are in milliseconds. */
export interface ScheduleState {
  plan: SchedulePlan;
  catchUp: CatchUp;
  jitter?: Jitter;
  /** When the plan was first in force. */
  firstInForceAt: number;
  /** Every due time up to this moment is settled. */
  settledThrough: number;
  /** Later due times that are also settled, because the clock was set back since. */
  settledAhead: readonly number[];
  /** When the last run of the schedule ended, if one did. */
  lastEndMs?: number;
  /** A run of the schedule is in progress. */
  isRunning: boolean;
}

/**
 * The decision about due times. `settledThrough`: how far the plan is settled once the decision is
 * recorded.
 */
export type DueDecision = {
  kind: "run";
  due: number;
  settledThrough: number;
  isCatchUp: boolean;
} | {
  kind: "missed";
  settledThrough: number;
  reason: MissedReason;
} & DueTimeSpan;

/** Consecutive due times. `count` is null if there are too many to count quickly. */
interface DueTimeSpan {
  first: number;
  last: number;
  count: number | null;
}

/** A start within this tolerance is on time, because busy machines delay timers. */
const onTimeToleranceMs = 60_000;
/** `catch_up: all` runs at most this many due times. */
const maxCatchUpRuns = 100;
const maxCountedDueTimes = 1_000;

/** The decisions about every due time that has come, in order. */
export function settleDueTimes(state: ScheduleState, now: number): DueDecision[] {
  if (stryMutAct_9fa48("182")) {
    {}
  } else {
    stryCov_9fa48("182");
    const times = dueTimesFor(state, now);
    const last = lastStartableDueTime(state, times, now);
    if (stryMutAct_9fa48("185") ? last === undefined && last <= state.settledThrough : stryMutAct_9fa48("184") ? false : stryMutAct_9fa48("183") ? true : (stryCov_9fa48("183", "184", "185"), (stryMutAct_9fa48("187") ? last !== undefined : stryMutAct_9fa48("186") ? false : (stryCov_9fa48("186", "187"), last === undefined)) || (stryMutAct_9fa48("190") ? last > state.settledThrough : stryMutAct_9fa48("189") ? last < state.settledThrough : stryMutAct_9fa48("188") ? false : (stryCov_9fa48("188", "189", "190"), last <= state.settledThrough)))) return stryMutAct_9fa48("191") ? ["Stryker was here"] : (stryCov_9fa48("191"), []);
    const {
      runs,
      reason
    } = chooseRuns(state, times, last, now);
    const end = stryMutAct_9fa48("192") ? runs[0]?.due && Number.POSITIVE_INFINITY : (stryCov_9fa48("192"), (stryMutAct_9fa48("193") ? runs[0].due : (stryCov_9fa48("193"), runs[0]?.due)) ?? Number.POSITIVE_INFINITY);
    const oldestAllowed = stryMutAct_9fa48("194") ? now + state.catchUp.windowMs : (stryCov_9fa48("194"), now - state.catchUp.windowMs);
    const missed = stryMutAct_9fa48("195") ? [] : (stryCov_9fa48("195"), [...missedDecisionsBetween(state, times, state.settledThrough, stryMutAct_9fa48("196") ? Math.max(end, oldestAllowed, last + 1) : (stryCov_9fa48("196"), Math.min(end, oldestAllowed, stryMutAct_9fa48("197") ? last - 1 : (stryCov_9fa48("197"), last + 1))), stryMutAct_9fa48("198") ? "" : (stryCov_9fa48("198"), "too_old")), ...missedDecisionsBetween(state, times, stryMutAct_9fa48("199") ? Math.min(state.settledThrough, oldestAllowed - 1) : (stryCov_9fa48("199"), Math.max(state.settledThrough, stryMutAct_9fa48("200") ? oldestAllowed + 1 : (stryCov_9fa48("200"), oldestAllowed - 1))), stryMutAct_9fa48("201") ? Math.max(end, last + 1) : (stryCov_9fa48("201"), Math.min(end, stryMutAct_9fa48("202") ? last - 1 : (stryCov_9fa48("202"), last + 1))), reason)]);
    return (stryMutAct_9fa48("203") ? [] : (stryCov_9fa48("203"), [...missed, ...runs])).map(stryMutAct_9fa48("204") ? () => undefined : (stryCov_9fa48("204"), decision => advanceIntervalPlan(state, decision, now)));
  }
}

/** The decisions about all open due times when a plan is no longer in force. */
export function abandonDueTimes(state: ScheduleState, reason: MissedReason, now: number): DueDecision[] {
  if (stryMutAct_9fa48("205")) {
    {}
  } else {
    stryCov_9fa48("205");
    return missedDecisionsBetween(state, dueTimesFor(state, now), state.settledThrough, stryMutAct_9fa48("206") ? now - 1 : (stryCov_9fa48("206"), now + 1), reason);
  }
}

/** When to settle next; undefined if only an event can change that. */
export function nextStartTime(state: ScheduleState, now: number): number | undefined {
  if (stryMutAct_9fa48("207")) {
    {}
  } else {
    stryCov_9fa48("207");
    const times = dueTimesFor(state, now);
    const due = nextUnsettled(state, times, state.settledThrough);
    return (stryMutAct_9fa48("210") ? due !== undefined : stryMutAct_9fa48("209") ? false : stryMutAct_9fa48("208") ? true : (stryCov_9fa48("208", "209", "210"), due === undefined)) ? undefined : startTimeOf(due, times, state.jitter);
  }
}

/** The next due times, for display. */
export function upcomingDueTimes(state: ScheduleState, now: number, count: number): number[] {
  if (stryMutAct_9fa48("211")) {
    {}
  } else {
    stryCov_9fa48("211");
    const times = dueTimesFor(state, now);
    const found: number[] = stryMutAct_9fa48("212") ? ["Stryker was here"] : (stryCov_9fa48("212"), []);
    let due = nextUnsettled(state, times, state.settledThrough);
    while (stryMutAct_9fa48("214") ? due !== undefined || found.length < count : stryMutAct_9fa48("213") ? false : (stryCov_9fa48("213", "214"), (stryMutAct_9fa48("216") ? due === undefined : stryMutAct_9fa48("215") ? true : (stryCov_9fa48("215", "216"), due !== undefined)) && (stryMutAct_9fa48("219") ? found.length >= count : stryMutAct_9fa48("218") ? found.length <= count : stryMutAct_9fa48("217") ? true : (stryCov_9fa48("217", "218", "219"), found.length < count)))) {
      if (stryMutAct_9fa48("220")) {
        {}
      } else {
        stryCov_9fa48("220");
        if (stryMutAct_9fa48("221")) {
          ;
        } else {
          stryCov_9fa48("221");
          found.push(due);
        }
        due = nextUnsettled(state, times, due);
      }
    }
    return found;
  }
}
function dueTimesFor({
  plan,
  firstInForceAt,
  settledThrough,
  lastEndMs,
  isRunning
}: ScheduleState, now: number): DueTimes {
  if (stryMutAct_9fa48("222")) {
    {}
  } else {
    stryCov_9fa48("222");
    // An end in the future was recorded before the clock was set back, so it does not count.
    const lastEnded = (stryMutAct_9fa48("225") ? lastEndMs !== undefined || lastEndMs <= now : stryMutAct_9fa48("224") ? false : stryMutAct_9fa48("223") ? true : (stryCov_9fa48("223", "224", "225"), (stryMutAct_9fa48("227") ? lastEndMs === undefined : stryMutAct_9fa48("226") ? true : (stryCov_9fa48("226", "227"), lastEndMs !== undefined)) && (stryMutAct_9fa48("230") ? lastEndMs > now : stryMutAct_9fa48("229") ? lastEndMs < now : stryMutAct_9fa48("228") ? true : (stryCov_9fa48("228", "229", "230"), lastEndMs <= now)))) ? lastEndMs : settledThrough;
    return createDueTimes(plan, stryMutAct_9fa48("231") ? {} : (stryCov_9fa48("231"), {
      firstInForceAt,
      countsFrom: isRunning ? undefined : stryMutAct_9fa48("232") ? Math.min(lastEnded, settledThrough) : (stryCov_9fa48("232"), Math.max(lastEnded, settledThrough))
    }));
  }
}
function lastStartableDueTime({
  jitter
}: ScheduleState, times: DueTimes, now: number): number | undefined {
  if (stryMutAct_9fa48("233")) {
    {}
  } else {
    stryCov_9fa48("233");
    const due = times.before(stryMutAct_9fa48("234") ? now - 1 : (stryCov_9fa48("234"), now + 1));
    if (stryMutAct_9fa48("237") ? due === undefined && startTimeOf(due, times, jitter) <= now : stryMutAct_9fa48("236") ? false : stryMutAct_9fa48("235") ? true : (stryCov_9fa48("235", "236", "237"), (stryMutAct_9fa48("239") ? due !== undefined : stryMutAct_9fa48("238") ? false : (stryCov_9fa48("238", "239"), due === undefined)) || (stryMutAct_9fa48("242") ? startTimeOf(due, times, jitter) > now : stryMutAct_9fa48("241") ? startTimeOf(due, times, jitter) < now : stryMutAct_9fa48("240") ? false : (stryCov_9fa48("240", "241", "242"), startTimeOf(due, times, jitter) <= now)))) return due;
    return times.before(due);
  }
}
interface RunChoice {
  runs: (DueDecision & {
    kind: "run";
  })[];
  /** Why earlier due times are not run. */
  reason: MissedReason;
}

/** Goes back from the last due time, so that nothing before a chosen run stays open. */
function chooseRuns(state: ScheduleState, times: DueTimes, last: number, now: number): RunChoice {
  if (stryMutAct_9fa48("243")) {
    {}
  } else {
    stryCov_9fa48("243");
    const runs: RunChoice["runs"] = stryMutAct_9fa48("244") ? ["Stryker was here"] : (stryCov_9fa48("244"), []);
    let due: number | undefined = last;
    for (; stryMutAct_9fa48("246") ? due !== undefined || due > state.settledThrough : stryMutAct_9fa48("245") ? false : (stryCov_9fa48("245", "246"), (stryMutAct_9fa48("248") ? due === undefined : stryMutAct_9fa48("247") ? true : (stryCov_9fa48("247", "248"), due !== undefined)) && (stryMutAct_9fa48("251") ? due <= state.settledThrough : stryMutAct_9fa48("250") ? due >= state.settledThrough : stryMutAct_9fa48("249") ? true : (stryCov_9fa48("249", "250", "251"), due > state.settledThrough))); due = times.before(due)) {
      if (stryMutAct_9fa48("252")) {
        {}
      } else {
        stryCov_9fa48("252");
        if (stryMutAct_9fa48("254") ? false : stryMutAct_9fa48("253") ? true : (stryCov_9fa48("253", "254"), state.settledAhead.includes(due))) continue;
        const isCatchUp = stryMutAct_9fa48("258") ? now - startTimeOf(due, times, state.jitter) <= onTimeToleranceMs : stryMutAct_9fa48("257") ? now - startTimeOf(due, times, state.jitter) >= onTimeToleranceMs : stryMutAct_9fa48("256") ? false : stryMutAct_9fa48("255") ? true : (stryCov_9fa48("255", "256", "257", "258"), (stryMutAct_9fa48("259") ? now + startTimeOf(due, times, state.jitter) : (stryCov_9fa48("259"), now - startTimeOf(due, times, state.jitter))) > onTimeToleranceMs);
        const reason = reasonNotToRun(state.catchUp, stryMutAct_9fa48("260") ? {} : (stryCov_9fa48("260"), {
          isCatchUp,
          age: stryMutAct_9fa48("261") ? now + due : (stryCov_9fa48("261"), now - due),
          chosenCount: runs.length
        }));
        if (stryMutAct_9fa48("263") ? false : stryMutAct_9fa48("262") ? true : (stryCov_9fa48("262", "263"), reason)) return stryMutAct_9fa48("264") ? {} : (stryCov_9fa48("264"), {
          runs,
          reason
        });
        runs.unshift(stryMutAct_9fa48("266") ? {} : (stryCov_9fa48("266"), {
          kind: stryMutAct_9fa48("267") ? "" : (stryCov_9fa48("267"), "run"),
          due,
          settledThrough: due,
          isCatchUp
        }));
      }
    }
    return stryMutAct_9fa48("268") ? {} : (stryCov_9fa48("268"), {
      runs,
      reason: stryMutAct_9fa48("269") ? "" : (stryCov_9fa48("269"), "superseded")
    });
  }
}
function reasonNotToRun({
  policy,
  windowMs
}: CatchUp, {
  isCatchUp,
  age,
  chosenCount
}: {
  isCatchUp: boolean;
  age: number;
  chosenCount: number;
}): MissedReason | undefined {
  if (stryMutAct_9fa48("270")) {
    {}
  } else {
    stryCov_9fa48("270");
    if (stryMutAct_9fa48("274") ? chosenCount < maxCatchUpRuns : stryMutAct_9fa48("273") ? chosenCount > maxCatchUpRuns : stryMutAct_9fa48("272") ? false : stryMutAct_9fa48("271") ? true : (stryCov_9fa48("271", "272", "273", "274"), chosenCount >= maxCatchUpRuns)) return stryMutAct_9fa48("275") ? "" : (stryCov_9fa48("275"), "too_many");
    if (stryMutAct_9fa48("278") ? false : stryMutAct_9fa48("277") ? true : stryMutAct_9fa48("276") ? isCatchUp : (stryCov_9fa48("276", "277", "278"), !isCatchUp)) return undefined;
    if (stryMutAct_9fa48("282") ? age <= windowMs : stryMutAct_9fa48("281") ? age >= windowMs : stryMutAct_9fa48("280") ? false : stryMutAct_9fa48("279") ? true : (stryCov_9fa48("279", "280", "281", "282"), age > windowMs)) return stryMutAct_9fa48("283") ? "" : (stryCov_9fa48("283"), "too_old");
    if (stryMutAct_9fa48("286") ? policy !== "skip" : stryMutAct_9fa48("285") ? false : stryMutAct_9fa48("284") ? true : (stryCov_9fa48("284", "285", "286"), policy === (stryMutAct_9fa48("287") ? "" : (stryCov_9fa48("287"), "skip")))) return stryMutAct_9fa48("288") ? "" : (stryCov_9fa48("288"), "not_caught_up");
    return (stryMutAct_9fa48("291") ? policy === "latest" || chosenCount > 0 : stryMutAct_9fa48("290") ? false : stryMutAct_9fa48("289") ? true : (stryCov_9fa48("289", "290", "291"), (stryMutAct_9fa48("293") ? policy !== "latest" : stryMutAct_9fa48("292") ? true : (stryCov_9fa48("292", "293"), policy === (stryMutAct_9fa48("294") ? "" : (stryCov_9fa48("294"), "latest")))) && (stryMutAct_9fa48("297") ? chosenCount <= 0 : stryMutAct_9fa48("296") ? chosenCount >= 0 : stryMutAct_9fa48("295") ? true : (stryCov_9fa48("295", "296", "297"), chosenCount > 0)))) ? stryMutAct_9fa48("298") ? "" : (stryCov_9fa48("298"), "superseded") : undefined;
  }
}

/** Due times later than `after` and earlier than `end` that have no record. */
function missedDecisionsBetween(state: ScheduleState, times: DueTimes, after: number, end: number, reason: MissedReason): DueDecision[] {
  if (stryMutAct_9fa48("299")) {
    {}
  } else {
    stryCov_9fa48("299");
    const settled = stryMutAct_9fa48("301") ? state.settledAhead.sort((a, b) => a - b) : stryMutAct_9fa48("300") ? state.settledAhead.filter(due => due > after && due < end) : (stryCov_9fa48("300", "301"), state.settledAhead.filter(stryMutAct_9fa48("302") ? () => undefined : (stryCov_9fa48("302"), due => stryMutAct_9fa48("305") ? due > after || due < end : stryMutAct_9fa48("304") ? false : stryMutAct_9fa48("303") ? true : (stryCov_9fa48("303", "304", "305"), (stryMutAct_9fa48("308") ? due <= after : stryMutAct_9fa48("307") ? due >= after : stryMutAct_9fa48("306") ? true : (stryCov_9fa48("306", "307", "308"), due > after)) && (stryMutAct_9fa48("311") ? due >= end : stryMutAct_9fa48("310") ? due <= end : stryMutAct_9fa48("309") ? true : (stryCov_9fa48("309", "310", "311"), due < end))))).sort(stryMutAct_9fa48("312") ? () => undefined : (stryCov_9fa48("312"), (a, b) => stryMutAct_9fa48("313") ? a + b : (stryCov_9fa48("313"), a - b))));
    const bounds = stryMutAct_9fa48("314") ? [] : (stryCov_9fa48("314"), [after, ...settled, end]);
    return stryMutAct_9fa48("315") ? bounds.flatMap((bound, index) => {
      const span = spanBetween(state, times, bounds[index] ?? after, bound);
      return span ? [{
        kind: "missed" as const,
        settledThrough: span.last,
        reason,
        ...span
      }] : [];
    }) : (stryCov_9fa48("315"), bounds.slice(1).flatMap((bound, index) => {
      if (stryMutAct_9fa48("316")) {
        {}
      } else {
        stryCov_9fa48("316");
        const span = spanBetween(state, times, stryMutAct_9fa48("317") ? bounds[index] && after : (stryCov_9fa48("317"), bounds[index] ?? after), bound);
        return span ? stryMutAct_9fa48("318") ? [] : (stryCov_9fa48("318"), [stryMutAct_9fa48("319") ? {} : (stryCov_9fa48("319"), {
          kind: "missed" as const,
          settledThrough: span.last,
          reason,
          ...span
        })]) : stryMutAct_9fa48("320") ? ["Stryker was here"] : (stryCov_9fa48("320"), []);
      }
    }));
  }
}
function spanBetween({
  plan
}: ScheduleState, times: DueTimes, after: number, end: number): DueTimeSpan | undefined {
  if (stryMutAct_9fa48("321")) {
    {}
  } else {
    stryCov_9fa48("321");
    const [first, last] = stryMutAct_9fa48("322") ? [] : (stryCov_9fa48("322"), [times.after(after), times.before(end)]);
    if (stryMutAct_9fa48("325") ? (first === undefined || last === undefined) && first > last : stryMutAct_9fa48("324") ? false : stryMutAct_9fa48("323") ? true : (stryCov_9fa48("323", "324", "325"), (stryMutAct_9fa48("327") ? first === undefined && last === undefined : stryMutAct_9fa48("326") ? false : (stryCov_9fa48("326", "327"), (stryMutAct_9fa48("329") ? first !== undefined : stryMutAct_9fa48("328") ? false : (stryCov_9fa48("328", "329"), first === undefined)) || (stryMutAct_9fa48("331") ? last !== undefined : stryMutAct_9fa48("330") ? false : (stryCov_9fa48("330", "331"), last === undefined)))) || (stryMutAct_9fa48("334") ? first <= last : stryMutAct_9fa48("333") ? first >= last : stryMutAct_9fa48("332") ? false : (stryCov_9fa48("332", "333", "334"), first > last)))) return undefined;
    if (stryMutAct_9fa48("337") ? plan.type === "interval" || plan.from === "start" : stryMutAct_9fa48("336") ? false : stryMutAct_9fa48("335") ? true : (stryCov_9fa48("335", "336", "337"), (stryMutAct_9fa48("339") ? plan.type !== "interval" : stryMutAct_9fa48("338") ? true : (stryCov_9fa48("338", "339"), plan.type === (stryMutAct_9fa48("340") ? "" : (stryCov_9fa48("340"), "interval")))) && (stryMutAct_9fa48("342") ? plan.from !== "start" : stryMutAct_9fa48("341") ? true : (stryCov_9fa48("341", "342"), plan.from === (stryMutAct_9fa48("343") ? "" : (stryCov_9fa48("343"), "start")))))) {
      if (stryMutAct_9fa48("344")) {
        {}
      } else {
        stryCov_9fa48("344");
        return stryMutAct_9fa48("345") ? {} : (stryCov_9fa48("345"), {
          first,
          last,
          count: stryMutAct_9fa48("346") ? Math.round((last - first) / plan.every) - 1 : (stryCov_9fa48("346"), Math.round(stryMutAct_9fa48("347") ? (last - first) * plan.every : (stryCov_9fa48("347"), (stryMutAct_9fa48("348") ? last + first : (stryCov_9fa48("348"), last - first)) / plan.every)) + 1)
        });
      }
    }
    let count = 1;
    for (let due = first; stryMutAct_9fa48("350") ? due < last || count <= maxCountedDueTimes : stryMutAct_9fa48("349") ? false : (stryCov_9fa48("349", "350"), (stryMutAct_9fa48("353") ? due >= last : stryMutAct_9fa48("352") ? due <= last : stryMutAct_9fa48("351") ? true : (stryCov_9fa48("351", "352", "353"), due < last)) && (stryMutAct_9fa48("356") ? count > maxCountedDueTimes : stryMutAct_9fa48("355") ? count < maxCountedDueTimes : stryMutAct_9fa48("354") ? true : (stryCov_9fa48("354", "355", "356"), count <= maxCountedDueTimes))); stryMutAct_9fa48("357") ? count-- : (stryCov_9fa48("357"), count++)) due = stryMutAct_9fa48("358") ? times.after(due) && last : (stryCov_9fa48("358"), times.after(due) ?? last);
    return stryMutAct_9fa48("359") ? {} : (stryCov_9fa48("359"), {
      first,
      last,
      count: (stryMutAct_9fa48("363") ? count <= maxCountedDueTimes : stryMutAct_9fa48("362") ? count >= maxCountedDueTimes : stryMutAct_9fa48("361") ? false : stryMutAct_9fa48("360") ? true : (stryCov_9fa48("360", "361", "362", "363"), count > maxCountedDueTimes)) ? null : count
    });
  }
}

/** An interval that counts from the end of a run continues from now, not from a time long past. */
function advanceIntervalPlan({
  plan
}: ScheduleState, decision: DueDecision, now: number): DueDecision {
  if (stryMutAct_9fa48("364")) {
    {}
  } else {
    stryCov_9fa48("364");
    const countsFromEnd = stryMutAct_9fa48("367") ? plan.type === "interval" || plan.from === "end" : stryMutAct_9fa48("366") ? false : stryMutAct_9fa48("365") ? true : (stryCov_9fa48("365", "366", "367"), (stryMutAct_9fa48("369") ? plan.type !== "interval" : stryMutAct_9fa48("368") ? true : (stryCov_9fa48("368", "369"), plan.type === (stryMutAct_9fa48("370") ? "" : (stryCov_9fa48("370"), "interval")))) && (stryMutAct_9fa48("372") ? plan.from !== "end" : stryMutAct_9fa48("371") ? true : (stryCov_9fa48("371", "372"), plan.from === (stryMutAct_9fa48("373") ? "" : (stryCov_9fa48("373"), "end")))));
    return countsFromEnd ? stryMutAct_9fa48("374") ? {} : (stryCov_9fa48("374"), {
      ...decision,
      settledThrough: stryMutAct_9fa48("375") ? Math.min(decision.settledThrough, now) : (stryCov_9fa48("375"), Math.max(decision.settledThrough, now))
    }) : decision;
  }
}
function nextUnsettled({
  settledAhead
}: ScheduleState, times: DueTimes, after: number): number | undefined {
  if (stryMutAct_9fa48("376")) {
    {}
  } else {
    stryCov_9fa48("376");
    let due = times.after(after);
    while (stryMutAct_9fa48("378") ? due !== undefined || settledAhead.includes(due) : stryMutAct_9fa48("377") ? false : (stryCov_9fa48("377", "378"), (stryMutAct_9fa48("380") ? due === undefined : stryMutAct_9fa48("379") ? true : (stryCov_9fa48("379", "380"), due !== undefined)) && settledAhead.includes(due))) due = times.after(due);
    return due;
  }
}

/** How far starts are spread. With the name, a due time always gets the same delay. */
interface Jitter {
  maxDelayMs: number;
  name: string;
}

/** When a due time starts: always before the next due time, however far starts are spread. */
function startTimeOf(due: number, times: DueTimes, jitter: Jitter | undefined): number {
  if (stryMutAct_9fa48("381")) {
    {}
  } else {
    stryCov_9fa48("381");
    if (stryMutAct_9fa48("384") ? false : stryMutAct_9fa48("383") ? true : stryMutAct_9fa48("382") ? jitter : (stryCov_9fa48("382", "383", "384"), !jitter)) return due;
    const next = stryMutAct_9fa48("385") ? times.after(due) && Number.POSITIVE_INFINITY : (stryCov_9fa48("385"), times.after(due) ?? Number.POSITIVE_INFINITY);
    const allowedDelayMs = stryMutAct_9fa48("386") ? Math.max(jitter.maxDelayMs, next - due) : (stryCov_9fa48("386"), Math.min(jitter.maxDelayMs, stryMutAct_9fa48("387") ? next + due : (stryCov_9fa48("387"), next - due)));
    return stryMutAct_9fa48("388") ? due - Math.floor(hashToFraction(`${jitter.name} ${due}`) * allowedDelayMs) : (stryCov_9fa48("388"), due + Math.floor(stryMutAct_9fa48("389") ? hashToFraction(`${jitter.name} ${due}`) / allowedDelayMs : (stryCov_9fa48("389"), hashToFraction(stryMutAct_9fa48("390") ? `` : (stryCov_9fa48("390"), `${jitter.name} ${due}`)) * allowedDelayMs)));
  }
}

/** A number from 0 up to, but not including, 1. */
function hashToFraction(text: string): number {
  if (stryMutAct_9fa48("391")) {
    {}
  } else {
    stryCov_9fa48("391");
    return stryMutAct_9fa48("392") ? createHash("sha256").update(text).digest().readUInt32BE() * 2 ** 32 : (stryCov_9fa48("392"), createHash(stryMutAct_9fa48("393") ? "" : (stryCov_9fa48("393"), "sha256")).update(text).digest().readUInt32BE() / 2 ** 32);
  }
}