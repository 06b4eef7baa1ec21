import type { FleetSpending } from "@herdctl/protocol";
import { zeroAmounts } from "@herdctl/protocol/schemas";
import type { SpendAmount, SpendLimit } from "../../runner/contract/spend-plan.ts";
import { type Budget, effectiveLimits } from "../admission/budget.ts";

/** A run in progress, with what its gateway has metered so far. */
export interface RunInFlight {
  jobId: string;
  agent: string;
  chainId: string;
  spent: SpendAmount;
}

/** The facts that decide the limits of one run. */
export interface SpendFacts {
  run: RunInFlight;
  budgets: { fleet: Budget; agent: Budget };
  /** From the records of the runs that ended today. */
  spending: FleetSpending;
  /** Limit and recorded cost of the run's chain; undefined if the run cannot be part of one. */
  chain?: { limit: number; usd: number };
  /** All runs in progress on this machine; may include this one. */
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
  const agentSpending = spending.agents.get(run.agent);
  return [
    ...(chain ? [chainLimit(chain.limit, chain.usd + totalSpent(ownChain).usd)] : []),
    ...dailyLimits("agent", budgets.agent, agentSpending, totalSpent(ownAgent)),
    ...dailyLimits("fleet", budgets.fleet, spending.fleet, totalSpent(others)),
  ];
}

function chainLimit(limit: number, used: number): SpendLimit {
  const amounts = { limit, ceiling: remaining(limit, used) };
  return { key: "chain.max_cost_usd", scope: "chain", unit: "usd", ...amounts };
}

function dailyLimits(
  scope: "agent" | "fleet",
  budget: Budget,
  recorded: FleetSpending["fleet"] | undefined,
  others: SpendAmount,
): SpendLimit[] {
  const spent = recorded ?? { ...zeroAmounts, raised: zeroAmounts };
  const limits = effectiveLimits(budget, spent.raised);
  return (["usd", "tokens"] as const).flatMap((unit): SpendLimit[] => {
    const limit = limits[unit];
    if (limit === undefined) return [];
    const ceiling = remaining(limit, /* defence: shared-spend-limit */ spent[unit] + others[unit]);
    return [{ key: `budget.daily_${unit}`, scope, unit, limit, ceiling }];
  });
}

function remaining(limit: number, used: number): number {
  return Math.max(0, limit - used);
}

function totalSpent(runs: readonly RunInFlight[]): SpendAmount {
  const total = { usd: 0, tokens: 0 };
  for (const { spent } of runs) {
    total.usd += spent.usd;
    total.tokens += spent.tokens;
  }
  return total;
}

/** Whether daily spending must be read. */
export function hasDailyLimit({ daily_usd, daily_tokens }: Budget): boolean {
  return daily_usd !== undefined || daily_tokens !== undefined;
}
