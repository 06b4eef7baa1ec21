import { type Budget, limitsOf } from "../queue/budget.ts";
import type { Amount, SpendLimit } from "../runner/spend-plan.ts";
import { nothing, type Spending } from "../state/spending.ts";

/** A run that is under way, with what its gateway has metered so far. */
export interface RunInFlight {
  jobId: string;
  agent: string;
  chainId: string;
  spent: Amount;
}

/** The facts that decide the limits of one run. */
export interface SpendFacts {
  run: RunInFlight;
  budgets: { fleet: Budget; agent: Budget };
  /** From the records of the runs that ended today. */
  spending: Spending;
  /** Limit and recorded cost of the run's chain, if another job handed the work on. */
  chain?: { limit: number; usd: number };
  /** All runs under way on this machine; whether this one is among them does not matter. */
  inFlight: readonly RunInFlight[];
}

/**
 * The limits that a run shares with others. Its own spending is part of each ceiling, so a ceiling
 * stays correct while the run spends.
 */
export function sharedLimits({
  run,
  budgets,
  spending,
  chain,
  inFlight,
}: SpendFacts): SpendLimit[] {
  const others = inFlight.filter(({ jobId }) => jobId !== run.jobId);
  const ownChain = others.filter(({ chainId }) => chainId === run.chainId);
  const ownAgent = others.filter(({ agent }) => agent === run.agent);
  const ofAgent = spending.agents.get(run.agent);
  return [
    ...(chain ? [chainLimit(chain.limit, chain.usd + sum(ownChain).usd)] : []),
    ...dailyLimits("agent", budgets.agent, ofAgent, sum(ownAgent)),
    ...dailyLimits("fleet", budgets.fleet, spending.fleet, sum(others)),
  ];
}

function chainLimit(limit: number, used: number): SpendLimit {
  const amounts = { limit, ceiling: left(limit, used) };
  return { key: "chain.max_cost_usd", scope: "chain", unit: "usd", ...amounts };
}

function dailyLimits(
  scope: "agent" | "fleet",
  budget: Budget,
  recorded: Spending["fleet"] | undefined,
  others: Amount,
): SpendLimit[] {
  const spent = recorded ?? { ...nothing, raised: nothing };
  const limits = limitsOf(budget, spent.raised);
  return (["usd", "tokens"] as const).flatMap((unit): SpendLimit[] => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const ceiling = left(limit, spent[unit] + others[unit]);
    return [{ key: `budget.daily_${unit}`, scope, unit, limit, ceiling }];
  });
}

function left(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

function sum(runs: readonly RunInFlight[]): Amount {
  const total = { usd: 0, tokens: 0 };
  for (const { spent } of runs) {
    total.usd += spent.usd;
    total.tokens += spent.tokens;
  }
  return total;
}

/** Whether spending has to be looked up at all. */
export function hasDailyLimit({ daily_usd, daily_tokens }: Budget): boolean {
  return daily_usd !== undefined || daily_tokens !== undefined;
}
