import type { Attempt, CostDimension, TokenCounts } from "@herdctl/protocol";

export interface CostQuery {
  by: CostDimension;
  /** The first and the last day, such as `2026-03-01`. */
  since: string;
  until: string;
  agent?: string;
}

/** Costs of one day. Dimensions that are not grouped by are null, and so are unknown ones. */
export interface DayCost extends TokenCounts {
  day: string;
  agent: string | null;
  schedule: string | null;
  model: string | null;
  usd: number;
  runs: number;
}

/** Costs of one run by model. Costs without a model have an empty name. */
export function costsByModel({ cost_usd, usage }: Attempt): ModelCost[] {
  const models = Object.entries(usage?.models ?? {}).map(
    ([model, { cost_usd: usd, ...tokens }]) => ({
      model,
      usd,
      ...tokens,
    }),
  );
  return [
    ...models,
    { model: "", ...unattributedCost(cost_usd ?? 0, usage ?? zeroTokens, models) },
  ];
}

interface ModelCost extends TokenCounts {
  model: string;
  usd: number;
}

const zeroTokens: TokenCounts = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

function unattributedCost(
  usd: number,
  tokens: TokenCounts,
  models: ModelCost[],
): Omit<ModelCost, "model"> {
  const remainder = (total: number, field: keyof Omit<ModelCost, "model">) =>
    Math.max(0, total - models.reduce((sum, cost) => sum + cost[field], 0));
  return {
    // Sums of prices have rounding errors, which are not a cost.
    usd: Math.round(remainder(usd, "usd") * 1e6) / 1e6,
    input_tokens: remainder(tokens.input_tokens, "input_tokens"),
    output_tokens: remainder(tokens.output_tokens, "output_tokens"),
    cache_read_input_tokens: remainder(tokens.cache_read_input_tokens, "cache_read_input_tokens"),
    cache_creation_input_tokens: remainder(
      tokens.cache_creation_input_tokens,
      "cache_creation_input_tokens",
    ),
  };
}
