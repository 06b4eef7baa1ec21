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
export function findExceededLimit(
  budget: Budget,
  spent: DailySpending = unspent,
  reserve = 0,
): OverBudget | undefined {
  const uses: Record<keyof BudgetAmounts, { used: number; wants: number; atLeast: number }> = {
    usd: {
      used: /* defence: reserved-budget */ spent.usd + spent.reserved_usd,
      wants: reserve,
      atLeast: minUsd,
    },
    jobs: { used: spent.jobs, wants: 1, atLeast: 1 },
    tokens: { used: spent.tokens, wants: 0, atLeast: 1 },
  };
  for (const kind of ["usd", "jobs", "tokens"] as const) {
    const limit = effectiveLimits(budget, spent.raised)[kind];
    const { used, wants, atLeast } = uses[kind];
    const left = (limit ?? Number.POSITIVE_INFINITY) - used;
    if (
      /* defence: daily-budget */ limit !== undefined &&
      left < Math.max(wants - minUsd, atLeast)
    ) {
      return { kind, limit, used: Math.round(used * 1e4) / 1e4 };
    }
  }
  return undefined;
}

/** The limits in force today, including raises. */
export function effectiveLimits(budget: Budget, raised: BudgetAmounts): Partial<BudgetAmounts> {
  const raisedTo = (limit: number | undefined, by: number) =>
    limit === undefined ? undefined : limit + by;
  return {
    usd: raisedTo(budget.daily_usd, raised.usd),
    jobs: raisedTo(budget.daily_jobs, raised.jobs),
    tokens: raisedTo(budget.daily_tokens, raised.tokens),
  };
}

/** Sums of prices have rounding errors, so a used-up limit may leave a tiny remainder. */
const minUsd = 1e-6;

const zeroAmounts: BudgetAmounts = { usd: 0, jobs: 0, tokens: 0 };
const unspent: DailySpending = { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts };

export function today({ fleet }: Fleet): BudgetDay {
  return dayOf(new Date(), fleet.timezone);
}
