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
import type { Fleet, ResolvedAgent } from "@herdctl/config";
import type { BudgetAmounts, BudgetDay, DailySpending } from "@herdctl/protocol";
import { dayOf } from "../../lib/time-zone.ts";
export type Budget = ResolvedAgent["budget"];
export interface OverBudget {
  kind: keyof BudgetAmounts;
  limit: number;
  /** Spent, plus reserved for unfinished jobs. */
  used: number;
}

/**
 * Finds the daily limit that keeps a job out. A job with `max_budget_usd` must fit into what is
 * left. The cost of other jobs is unknown, so they are admitted as long as any budget remains.
 */
export function findExceededLimit(budget: Budget, spent: DailySpending = unspent, reserve = 0): OverBudget | undefined {
  if (stryMutAct_9fa48("0")) {
    {}
  } else {
    stryCov_9fa48("0");
    const uses: Record<keyof BudgetAmounts, {
      used: number;
      wants: number;
      atLeast: number;
    }> = stryMutAct_9fa48("1") ? {} : (stryCov_9fa48("1"), {
      usd: stryMutAct_9fa48("2") ? {} : (stryCov_9fa48("2"), {
        used: /* defence: reserved-budget */stryMutAct_9fa48("3") ? /* defence: reserved-budget */spent.usd - spent.reserved_usd : (stryCov_9fa48("3"), spent.usd + spent.reserved_usd),
        wants: reserve,
        atLeast: minUsd
      }),
      jobs: stryMutAct_9fa48("4") ? {} : (stryCov_9fa48("4"), {
        used: spent.jobs,
        wants: 1,
        atLeast: 1
      }),
      tokens: stryMutAct_9fa48("5") ? {} : (stryCov_9fa48("5"), {
        used: spent.tokens,
        wants: 0,
        atLeast: 1
      })
    });
    for (const kind of ["usd", "jobs", "tokens"] as const) {
      if (stryMutAct_9fa48("6")) {
        {}
      } else {
        stryCov_9fa48("6");
        const limit = effectiveLimits(budget, spent.raised)[kind];
        const {
          used,
          wants,
          atLeast
        } = uses[kind];
        const left = stryMutAct_9fa48("7") ? (limit ?? Number.POSITIVE_INFINITY) + used : (stryCov_9fa48("7"), (stryMutAct_9fa48("8") ? limit && Number.POSITIVE_INFINITY : (stryCov_9fa48("8"), limit ?? Number.POSITIVE_INFINITY)) - used);
        if (/* defence: daily-budget */stryMutAct_9fa48("11") ? /* defence: daily-budget */limit !== undefined || left < Math.max(wants, atLeast) : stryMutAct_9fa48("10") ? false : stryMutAct_9fa48("9") ? true : (stryCov_9fa48("9", "10", "11"), (stryMutAct_9fa48("13") ? limit === undefined : stryMutAct_9fa48("12") ? true : (stryCov_9fa48("12", "13"), limit !== undefined)) && (stryMutAct_9fa48("16") ? left >= Math.max(wants, atLeast) : stryMutAct_9fa48("15") ? left <= Math.max(wants, atLeast) : stryMutAct_9fa48("14") ? true : (stryCov_9fa48("14", "15", "16"), left < (stryMutAct_9fa48("17") ? Math.min(wants, atLeast) : (stryCov_9fa48("17"), Math.max(wants, atLeast))))))) {
          if (stryMutAct_9fa48("18")) {
            {}
          } else {
            stryCov_9fa48("18");
            return stryMutAct_9fa48("19") ? {} : (stryCov_9fa48("19"), {
              kind,
              limit,
              used: stryMutAct_9fa48("20") ? Math.round(used * 1e4) * 1e4 : (stryCov_9fa48("20"), Math.round(stryMutAct_9fa48("21") ? used / 1e4 : (stryCov_9fa48("21"), used * 1e4)) / 1e4)
            });
          }
        }
      }
    }
    return undefined;
  }
}

/** The limits in force today, including raises. */
export function effectiveLimits(budget: Budget, raised: BudgetAmounts): Partial<BudgetAmounts> {
  if (stryMutAct_9fa48("22")) {
    {}
  } else {
    stryCov_9fa48("22");
    const raisedTo = stryMutAct_9fa48("23") ? () => undefined : (stryCov_9fa48("23"), (() => {
      const raisedTo = (limit: number | undefined, by: number) => (stryMutAct_9fa48("26") ? limit !== undefined : stryMutAct_9fa48("25") ? false : stryMutAct_9fa48("24") ? true : (stryCov_9fa48("24", "25", "26"), limit === undefined)) ? undefined : stryMutAct_9fa48("27") ? limit - by : (stryCov_9fa48("27"), limit + by);
      return raisedTo;
    })());
    return stryMutAct_9fa48("28") ? {} : (stryCov_9fa48("28"), {
      usd: raisedTo(budget.daily_usd, raised.usd),
      jobs: raisedTo(budget.daily_jobs, raised.jobs),
      tokens: raisedTo(budget.daily_tokens, raised.tokens)
    });
  }
}

/** Sums of prices have rounding errors, so a used-up limit may leave a tiny remainder. */
const minUsd = 1e-6;
const zeroAmounts: BudgetAmounts = stryMutAct_9fa48("29") ? {} : (stryCov_9fa48("29"), {
  usd: 0,
  jobs: 0,
  tokens: 0
});
const unspent: DailySpending = stryMutAct_9fa48("30") ? {} : (stryCov_9fa48("30"), {
  ...zeroAmounts,
  reserved_usd: 0,
  raised: zeroAmounts
});
export function today({
  fleet
}: Fleet): BudgetDay {
  if (stryMutAct_9fa48("31")) {
    {}
  } else {
    stryCov_9fa48("31");
    return dayOf(new Date(), fleet.timezone);
  }
}