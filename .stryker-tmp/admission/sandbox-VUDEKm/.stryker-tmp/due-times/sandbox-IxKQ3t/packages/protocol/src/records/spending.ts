import { z } from "zod";

/** A day in the fleet's time zone. */
export interface BudgetDay {
  /** Such as `2026-03-01`. */
  name: string;
  start: Date;
}

/** The day in UTC, for a fleet without a configured time zone. */
export function formatUtcDay(at: Date): string {
  return at.toISOString().slice(0, 10);
}

export const amountsSchema = z.object({
  usd: z.number().nonnegative(),
  jobs: z.number().int().nonnegative(),
  tokens: z.number().int().nonnegative(),
});
export type BudgetAmounts = z.infer<typeof amountsSchema>;

export const zeroAmounts: BudgetAmounts = { usd: 0, jobs: 0, tokens: 0 };

/** The spending of an agent, or of the fleet, on one day. */
export interface DailySpending extends BudgetAmounts {
  /** Reserved for unfinished jobs, beyond their cost so far. */
  reserved_usd: number;
  /** Amounts added to the limits for this day. */
  raised: BudgetAmounts;
}

/** Spending by agent, and of the whole fleet. */
export interface FleetSpending {
  agents: ReadonlyMap<string, DailySpending>;
  fleet: DailySpending;
}
