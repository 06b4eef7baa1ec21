import type { Outcome } from "@herdctl/protocol";
import { describeLimit, type PriceOverrides, type SpendLimit } from "./spend-limit.ts";

export type { SpendAmount, SpendLimit } from "./spend-limit.ts";

/** The spending limits of one run and the prices used for metering. */
export interface SpendPlan {
  limits: readonly SpendLimit[];
  prices: PriceOverrides;
}

interface JobLimits {
  maxBudgetUsd: number | undefined;
  /** The remaining budget of the chain when the job was admitted. */
  chainUsd: number | null;
  /** Spent by earlier attempts. */
  spentUsd: number;
}

/** The remaining budget of an attempt: a job's limit applies to all its attempts together. */
export type AttemptBudgetResult =
  | { kind: "left"; usd: number | undefined; limits: SpendLimit[] }
  | { kind: "used_up"; outcome: Outcome };

export function computeAttemptBudget({
  maxBudgetUsd,
  chainUsd,
  spentUsd,
}: JobLimits): AttemptBudgetResult {
  const limits = maxBudgetUsd === undefined ? [] : [jobLimit(maxBudgetUsd, spentUsd)];
  const reached = limits.find(({ ceiling }) => ceiling < minUsd);
  if (reached) return { kind: "used_up", outcome: budgetExceededOutcome(reached) };
  const maxUsd = Math.min(maxBudgetUsd ?? Infinity, chainUsd ?? Infinity);
  if (maxUsd === Infinity) return { kind: "left", usd: undefined, limits };
  const usd = maxUsd - spentUsd;
  if (usd >= minUsd) return { kind: "left", usd, limits };
  const message = `The job used up the remaining budget of its chain ($${maxUsd}).`;
  return { kind: "used_up", outcome: { code: "budget_exceeded", message, hint: limitHints.chain } };
}

/** Smaller amounts are floating-point noise. */
const minUsd = 1e-6;

/** The only limit that is not shared with other jobs. */
function jobLimit(limit: number, spentUsd: number): SpendLimit {
  const ceiling = Math.max(0, limit - spentUsd);
  return { key: "max_budget_usd", scope: "run", unit: "usd", limit, ceiling };
}

const limitHints: Record<SpendLimit["scope"], string> = {
  run: "Raise `max_budget_usd` of the agent, or make the task smaller.",
  chain: "Raise `fleet.chain.max_cost_usd`, or let fewer agents delegate work.",
  agent:
    "Raise it for today with `herdctl budget raise AGENT`, or permanently in the configuration.",
  fleet: "Raise it for today with `herdctl budget raise`, or permanently in the configuration.",
};

/** The outcome of a run whose API calls the gateway refused because of this limit. */
export function budgetExceededOutcome(limit: SpendLimit): Outcome {
  const text = describeLimit(limit);
  const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return { code: "budget_exceeded", message, hint: limitHints[limit.scope] };
}
