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
import type { Candidate } from "../../jobs/admission/admit.ts";
import type { SettledDueTime } from "../../store/contracts/schedule-store.ts";
import { missedRecord, toIsoString } from "./reconcile-schedules.ts";
import { type ScheduleEntry, scheduleKey } from "./schedule-entries.ts";
import type { DueDecision } from "./settle-due-times.ts";

/** An action for due times: run one, or record that some are not run. */
export type DueAction = DueRun | {
  kind: "record";
  entry: ScheduleEntry;
  through: string;
  record: SettledDueTime;
};
export interface DueRun {
  kind: "run";
  entry: ScheduleEntry;
  through: string;
  due: number;
  isCatchUp: boolean;
}

/**
 * The actions of all schedules, ordered by due time; equal due times keep the order of the
 * configuration.
 */
export function actionsFor(settled: readonly {
  entry: ScheduleEntry;
  decisions: readonly DueDecision[];
}[], paused: ReadonlySet<string>): DueAction[] {
  if (stryMutAct_9fa48("0")) {
    {}
  } else {
    stryCov_9fa48("0");
    return stryMutAct_9fa48("1") ? settled.flatMap(({
      entry,
      decisions
    }) => decisions.map(decision => ({
      entry,
      decision
    }))).map(({
      entry,
      decision
    }) => actionFor(entry, decision, paused)) : (stryCov_9fa48("1"), settled.flatMap(stryMutAct_9fa48("2") ? () => undefined : (stryCov_9fa48("2"), ({
      entry,
      decisions
    }) => decisions.map(stryMutAct_9fa48("3") ? () => undefined : (stryCov_9fa48("3"), decision => stryMutAct_9fa48("4") ? {} : (stryCov_9fa48("4"), {
      entry,
      decision
    }))))).sort(stryMutAct_9fa48("5") ? () => undefined : (stryCov_9fa48("5"), (a, b) => stryMutAct_9fa48("6") ? dueTimeOf(a.decision) + dueTimeOf(b.decision) : (stryCov_9fa48("6"), dueTimeOf(a.decision) - dueTimeOf(b.decision)))).map(stryMutAct_9fa48("7") ? () => undefined : (stryCov_9fa48("7"), ({
      entry,
      decision
    }) => actionFor(entry, decision, paused))));
  }
}

/** After this many actions, other work gets its turn. */
export const maxBatchSize = 50;

/** Consecutive actions of one kind share a transaction; gated runs are handled one at a time. */
export function batchActions(actions: readonly DueAction[]): DueAction[][] {
  if (stryMutAct_9fa48("8")) {
    {}
  } else {
    stryCov_9fa48("8");
    const batches: DueAction[][] = stryMutAct_9fa48("9") ? ["Stryker was here"] : (stryCov_9fa48("9"), []);
    for (const action of actions) {
      if (stryMutAct_9fa48("10")) {
        {}
      } else {
        stryCov_9fa48("10");
        const batch = batches.at(stryMutAct_9fa48("11") ? +1 : (stryCov_9fa48("11"), -1));
        const first = stryMutAct_9fa48("12") ? batch[0] : (stryCov_9fa48("12"), batch?.[0]);
        const canJoin = stryMutAct_9fa48("15") ? first && batchKindOf(first) === batchKindOf(action) || batch.length < maxBatchSize : stryMutAct_9fa48("14") ? false : stryMutAct_9fa48("13") ? true : (stryCov_9fa48("13", "14", "15"), (stryMutAct_9fa48("17") ? first || batchKindOf(first) === batchKindOf(action) : stryMutAct_9fa48("16") ? true : (stryCov_9fa48("16", "17"), first && (stryMutAct_9fa48("19") ? batchKindOf(first) !== batchKindOf(action) : stryMutAct_9fa48("18") ? true : (stryCov_9fa48("18", "19"), batchKindOf(first) === batchKindOf(action))))) && (stryMutAct_9fa48("22") ? batch.length >= maxBatchSize : stryMutAct_9fa48("21") ? batch.length <= maxBatchSize : stryMutAct_9fa48("20") ? true : (stryCov_9fa48("20", "21", "22"), batch.length < maxBatchSize)));
        if (stryMutAct_9fa48("25") ? canJoin || batchKindOf(action) !== "gated" : stryMutAct_9fa48("24") ? false : stryMutAct_9fa48("23") ? true : (stryCov_9fa48("23", "24", "25"), canJoin && (stryMutAct_9fa48("27") ? batchKindOf(action) === "gated" : stryMutAct_9fa48("26") ? true : (stryCov_9fa48("26", "27"), batchKindOf(action) !== (stryMutAct_9fa48("28") ? "" : (stryCov_9fa48("28"), "gated")))))) {
          if (stryMutAct_9fa48("29")) {
            ;
          } else {
            stryCov_9fa48("29");
            batch.push(action);
          }
        } else batches.push(stryMutAct_9fa48("31") ? [] : (stryCov_9fa48("31"), [action]));
      }
    }
    return batches;
  }
}

/** The key is made from the due time, so that a due time gives at most one job. */
export function candidateFor({
  entry,
  due,
  through,
  isCatchUp
}: DueRun): Candidate {
  if (stryMutAct_9fa48("32")) {
    {}
  } else {
    stryCov_9fa48("32");
    const {
      agent,
      schedule,
      config
    } = entry;
    const key = stryMutAct_9fa48("33") ? `` : (stryCov_9fa48("33"), `due ${scheduleKey(entry)} ${toIsoString(due)}`);
    // With `catch_up: all` every missed run is wanted, although they come together; the agent's
    // `max_concurrent` limits them.
    const overlap = (stryMutAct_9fa48("36") ? isCatchUp || config.catch_up === "all" : stryMutAct_9fa48("35") ? false : stryMutAct_9fa48("34") ? true : (stryCov_9fa48("34", "35", "36"), isCatchUp && (stryMutAct_9fa48("38") ? config.catch_up !== "all" : stryMutAct_9fa48("37") ? true : (stryCov_9fa48("37", "38"), config.catch_up === (stryMutAct_9fa48("39") ? "" : (stryCov_9fa48("39"), "all")))))) ? stryMutAct_9fa48("40") ? {} : (stryCov_9fa48("40"), {
      overlap: "allow" as const
    }) : {};
    return stryMutAct_9fa48("41") ? {} : (stryCov_9fa48("41"), {
      request: stryMutAct_9fa48("42") ? {} : (stryCov_9fa48("42"), {
        trigger: config.type,
        agent,
        schedule,
        key
      }),
      due: stryMutAct_9fa48("43") ? {} : (stryCov_9fa48("43"), {
        due_at: toIsoString(due),
        through
      }),
      ...overlap
    });
  }
}
function actionFor(entry: ScheduleEntry, decision: DueDecision, paused: ReadonlySet<string>): DueAction {
  if (stryMutAct_9fa48("44")) {
    {}
  } else {
    stryCov_9fa48("44");
    const through = toIsoString(decision.settledThrough);
    if (stryMutAct_9fa48("47") ? decision.kind !== "missed" : stryMutAct_9fa48("46") ? false : stryMutAct_9fa48("45") ? true : (stryCov_9fa48("45", "46", "47"), decision.kind === (stryMutAct_9fa48("48") ? "" : (stryCov_9fa48("48"), "missed")))) {
      if (stryMutAct_9fa48("49")) {
        {}
      } else {
        stryCov_9fa48("49");
        return stryMutAct_9fa48("50") ? {} : (stryCov_9fa48("50"), {
          kind: stryMutAct_9fa48("51") ? "" : (stryCov_9fa48("51"), "record"),
          entry,
          through,
          record: missedRecord(entry, decision)
        });
      }
    }
    const {
      due,
      isCatchUp
    } = decision;
    if (stryMutAct_9fa48("54") ? false : stryMutAct_9fa48("53") ? true : stryMutAct_9fa48("52") ? paused.has(entry.agent) : (stryCov_9fa48("52", "53", "54"), !paused.has(entry.agent))) return stryMutAct_9fa48("55") ? {} : (stryCov_9fa48("55"), {
      kind: stryMutAct_9fa48("56") ? "" : (stryCov_9fa48("56"), "run"),
      entry,
      through,
      due,
      isCatchUp
    });
    const {
      agent,
      schedule
    } = entry;
    const time = stryMutAct_9fa48("57") ? {} : (stryCov_9fa48("57"), {
      due_at: toIsoString(due),
      last_due_at: toIsoString(due),
      count: 1,
      through
    });
    const record = stryMutAct_9fa48("58") ? {} : (stryCov_9fa48("58"), {
      agent,
      schedule,
      ...time,
      result: "skipped" as const,
      reason: "paused" as const
    });
    return stryMutAct_9fa48("59") ? {} : (stryCov_9fa48("59"), {
      kind: stryMutAct_9fa48("60") ? "" : (stryCov_9fa48("60"), "record"),
      entry,
      through,
      record
    });
  }
}
function dueTimeOf(decision: DueDecision): number {
  if (stryMutAct_9fa48("61")) {
    {}
  } else {
    stryCov_9fa48("61");
    return (stryMutAct_9fa48("64") ? decision.kind !== "run" : stryMutAct_9fa48("63") ? false : stryMutAct_9fa48("62") ? true : (stryCov_9fa48("62", "63", "64"), decision.kind === (stryMutAct_9fa48("65") ? "" : (stryCov_9fa48("65"), "run")))) ? decision.due : decision.last;
  }
}
function batchKindOf(action: DueAction): string {
  if (stryMutAct_9fa48("66")) {
    {}
  } else {
    stryCov_9fa48("66");
    return (stryMutAct_9fa48("69") ? action.kind === "run" || action.entry.isGated : stryMutAct_9fa48("68") ? false : stryMutAct_9fa48("67") ? true : (stryCov_9fa48("67", "68", "69"), (stryMutAct_9fa48("71") ? action.kind !== "run" : stryMutAct_9fa48("70") ? true : (stryCov_9fa48("70", "71"), action.kind === (stryMutAct_9fa48("72") ? "" : (stryCov_9fa48("72"), "run")))) && action.entry.isGated)) ? stryMutAct_9fa48("73") ? "" : (stryCov_9fa48("73"), "gated") : action.kind;
  }
}