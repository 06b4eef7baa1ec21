import type { Usage } from "../records/usage.ts";

export interface CostQuery {
  /** `agent` if omitted. */
  by?: CostDimension;
  /** Number of days, ending with today; 30 if omitted. */
  days?: number;
  agent?: string;
}

/** The cost of runs by one dimension and by day. */
export interface CostView {
  timezone: string;
  /** All days, including those without runs; earliest first. */
  days: string[];
  total: CostTotals;
  /** Highest cost first. */
  rows: CostRow[];
}

export interface CostTotals extends TokenCounts {
  usd: number;
  runs: number;
  /** In the order of the days. */
  usd_by_day: number[];
  /** The configured daily limit; null without a limit. */
  daily_limit_usd: number | null;
}

export interface CostRow extends CostTotals {
  agent: string | null;
  schedule: string | null;
  model: string | null;
}

/** The dimension by which costs are grouped, in addition to the day. */
export type CostDimension = "agent" | "schedule" | "model";

export type TokenCounts = Omit<Usage, "models">;
