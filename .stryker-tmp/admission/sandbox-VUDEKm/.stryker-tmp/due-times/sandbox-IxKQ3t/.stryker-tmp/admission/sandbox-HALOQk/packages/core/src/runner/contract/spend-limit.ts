import { z } from "zod";

/** Once the metered spending of the run reaches `ceiling`, its calls are refused. */
export const spendLimitSchema = z.object({
  /** The configuration key. */
  key: z.enum(["max_budget_usd", "chain.max_cost_usd", "budget.daily_usd", "budget.daily_tokens"]),
  scope: z.enum(["run", "chain", "agent", "fleet"]),
  unit: z.enum(["usd", "tokens"]),
  /** The configured or raised limit. */
  limit: z.number(),
  ceiling: z.number(),
});

export type SpendLimit = z.infer<typeof spendLimitSchema>;

export interface SpendAmount {
  usd: number;
  tokens: number;
}

const scopeLabels: Record<SpendLimit["scope"], string> = {
  run: "this job",
  chain: "this chain of jobs",
  agent: "this agent today",
  fleet: "the fleet today",
};

/** One sentence for the client and the job's record. */
export function describeLimit({ key, scope, unit, limit }: SpendLimit): string {
  const amount = unit === "usd" ? `$${limit}` : `${limit} tokens`;
  return `the spending limit of ${scopeLabels[scope]} is reached (${key}: ${amount})`;
}

export type PriceOverrides = Readonly<Record<string, PriceOverride>>;

/** A price in the fleet file, for a model name or a pattern with `*`. */
export interface PriceOverride {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  cache_write_1h?: number;
}
