import type { ResolvedAgent } from "../config/resolve.ts";
import type { Amounts, Spent } from "../state/spending.ts";

export type Budget = ResolvedAgent["budget"];

export interface OverBudget {
  kind: keyof Amounts;
  limit: number;
  /** Spent, and held for jobs that are not over. */
  used: number;
}

/**
 * Which limit of a day keeps a job out. A job that may cost so much and no more (`max_budget_usd`)
 * must fit into what is left; of any other it is not known, so it comes in while something is left.
 */
export function overBudget(
  budget: Budget,
  spent: Spent = unspent,
  reserve = 0,
): OverBudget | undefined {
  const uses: Record<keyof Amounts, { used: number; wants: number; atLeast: number }> = {
    usd: { used: spent.usd + spent.reserved_usd, wants: reserve, atLeast: smallest },
    jobs: { used: spent.jobs, wants: 1, atLeast: 1 },
    tokens: { used: spent.tokens, wants: 0, atLeast: 1 },
  };
  for (const kind of ["usd", "jobs", "tokens"] as const) {
    const limit = limitsOf(budget, spent.raised)[kind];
    const { used, wants, atLeast } = uses[kind];
    const left = (limit ?? Number.POSITIVE_INFINITY) - used;
    if (limit !== undefined && left < Math.max(wants, atLeast)) {
      return { kind, limit, used: Math.round(used * 1e4) / 1e4 };
    }
  }
  return undefined;
}

/** The limits in force today. */
export function limitsOf(budget: Budget, raised: Amounts): Partial<Amounts> {
  const raisedTo = (limit: number | undefined, by: number) =>
    limit === undefined ? undefined : limit + by;
  return {
    usd: raisedTo(budget.daily_usd, raised.usd),
    jobs: raisedTo(budget.daily_jobs, raised.jobs),
    tokens: raisedTo(budget.daily_tokens, raised.tokens),
  };
}

/** Sums of prices end in noise: what is left of a limit that is used up is not always nothing. */
const smallest = 1e-6;

const none: Amounts = { usd: 0, jobs: 0, tokens: 0 };
const unspent: Spent = { ...none, reserved_usd: 0, raised: none };
