import type { BudgetAmounts } from "../records/spending.ts";

/** Today's limits and spending. */
export interface BudgetView {
  /** In the fleet's time zone. */
  day: string;
  fleet: BudgetUsage;
  agents: (BudgetUsage & { agent: string })[];
}

export interface BudgetUsage {
  /** Including raises; null without a limit. */
  limits: { usd: number | null; jobs: number | null; tokens: number | null };
  spent: BudgetAmounts;
  /** Reserved for unfinished jobs. */
  reserved_usd: number;
  raised: BudgetAmounts;
}
