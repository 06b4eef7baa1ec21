import { z } from "zod";

/** Once the metered spending of the run reaches `ceiling`, its calls are refused. */
export const spendLimitSchema = z.object({
  /** Its key in the configuration. */
  key: z.enum(["max_budget_usd", "chain.max_cost_usd", "budget.daily_usd", "budget.daily_tokens"]),
  scope: z.enum(["run", "chain", "agent", "fleet"]),
  unit: z.enum(["usd", "tokens"]),
  /** As configured, or raised to. */
  limit: z.number(),
  ceiling: z.number(),
});
export type SpendLimit = z.infer<typeof spendLimitSchema>;

export interface Amount {
  usd: number;
  tokens: number;
}

export interface SpendState {
  limits: readonly SpendLimit[];
  /** Settled calls, and what calls in flight are known to have used. */
  spent: Amount;
  /** Further amounts that calls in flight may use. */
  reserved: Amount;
  callsInFlight: number;
}

export type CallDecision =
  | { kind: "pass" }
  /** Until a call in flight has ended: only then is it known what is left. */
  | { kind: "wait" }
  | { kind: "refuse"; limit: SpendLimit };

/** Sums of prices end in noise. */
const smallest = 1e-9;

/**
 * A call passes while something is left after all calls in flight. One call alone may overrun a
 * limit, since its cost is known only afterwards; concurrent calls may not.
 */
export function decideCall({ limits, spent, reserved, callsInFlight }: SpendState): CallDecision {
  const reached = limits.find(({ unit, ceiling }) => spent[unit] + smallest >= ceiling);
  if (reached) return { kind: "refuse", limit: reached };
  const mayBeReached = limits.some(
    ({ unit, ceiling }) => spent[unit] + reserved[unit] + smallest >= ceiling,
  );
  return mayBeReached && callsInFlight > 0 ? { kind: "wait" } : { kind: "pass" };
}

const scopes: Record<SpendLimit["scope"], string> = {
  run: "this run",
  chain: "this chain of jobs",
  agent: "this agent today",
  fleet: "the fleet today",
};

/** One sentence for the client and the job's record. */
export function describeLimit({ key, scope, unit, limit }: SpendLimit): string {
  const amount = unit === "usd" ? `$${limit}` : `${limit} tokens`;
  return `the spending limit of ${scopes[scope]} is reached (${key}: ${amount})`;
}
