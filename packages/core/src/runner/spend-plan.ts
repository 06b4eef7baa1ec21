import { describeLimit, type SpendLimit } from "../gateway/metering/decide-call.ts";
import type { PriceOverrides } from "../gateway/metering/prices.ts";
import type { Outcome } from "../state/outcome.ts";

export type { Amount, SpendLimit } from "../gateway/metering/decide-call.ts";

/** What one run may spend, and at which prices it is metered. */
export interface SpendPlan {
  limits: readonly SpendLimit[];
  prices: PriceOverrides;
}

/** The limit that belongs to the run alone; all others are shared with other runs. */
export function runLimits(maxBudgetUsd: number | undefined): SpendLimit[] {
  if (maxBudgetUsd === undefined) return [];
  const amounts = { limit: maxBudgetUsd, ceiling: maxBudgetUsd };
  return [{ key: "max_budget_usd", scope: "run", unit: "usd", ...amounts }];
}

const hints: Record<SpendLimit["scope"], string> = {
  run: "Raise `max_budget_usd` of the agent, or make the task smaller.",
  chain: "Raise `fleet.chain.max_cost_usd`, or let fewer agents hand work on.",
  agent: "Raise it for today with `herdctl budget raise AGENT`, or for good in the configuration.",
  fleet: "Raise it for today with `herdctl budget raise`, or for good in the configuration.",
};

/** The outcome of a run whose calls the gateway refused for this limit. */
export function overLimit(limit: SpendLimit): Outcome {
  const text = describeLimit(limit);
  const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return { code: "budget_exceeded", message, hint: hints[limit.scope] };
}
