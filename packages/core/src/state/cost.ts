import type { Attempt } from "./job.ts";
import type { Usage } from "./usage.ts";

/** What costs are told apart by, beside the day. */
export type CostKey = "agent" | "schedule" | "model";

export interface CostQuery {
  by: CostKey;
  /** The first and the last day, such as `2026-03-01`. */
  since: string;
  until: string;
  agent?: string;
}

export type TokenCounts = Omit<Usage, "models">;

/** Of one day; what it is not told apart by is null, and so is what is not known. */
export interface DayCost extends TokenCounts {
  day: string;
  agent: string | null;
  schedule: string | null;
  model: string | null;
  usd: number;
  runs: number;
}

/** Of one run: by model, and under no name what no model accounts for. */
export function costsOf({ cost_usd, usage }: Attempt): ModelCost[] {
  const models = Object.entries(usage?.models ?? {}).map(
    ([model, { cost_usd: usd, ...tokens }]) => ({
      model,
      usd,
      ...tokens,
    }),
  );
  return [...models, { model: "", ...rest(cost_usd ?? 0, usage ?? noTokens, models) }];
}

interface ModelCost extends TokenCounts {
  model: string;
  usd: number;
}

const noTokens: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function rest(usd: number, tokens: TokenCounts, models: ModelCost[]): Omit<ModelCost, "model"> {
  const left = (all: number, field: keyof Omit<ModelCost, "model">) =>
    Math.max(0, all - models.reduce((sum, one) => sum + one[field], 0));
  return {
    // Sums of prices end in noise, which is no cost of its own.
    usd: Math.round(left(usd, "usd") * 1e6) / 1e6,
    input_tokens: left(tokens.input_tokens, "input_tokens"),
    output_tokens: left(tokens.output_tokens, "output_tokens"),
    cache_read_input_tokens: left(tokens.cache_read_input_tokens, "cache_read_input_tokens"),
    cache_creation_input_tokens: left(
      tokens.cache_creation_input_tokens,
      "cache_creation_input_tokens",
    ),
  };
}
