import { z } from "zod";

const count = z.number().int().nonnegative();

const tokenFields = {
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
};

/** Token counts in total, and with the cost by model. */
export const usageSchema = z.object({
  ...tokenFields,
  models: z.record(z.string(), z.object({ ...tokenFields, cost_usd: z.number().nonnegative() })),
});
export type Usage = z.infer<typeof usageSchema>;

type Tokens = Omit<Usage, "models">;
type ModelUsage = Usage["models"][string];

export function addUsage(a: Usage | null, b: Usage | null): Usage | null {
  if (a === null || b === null) return a ?? b;
  const models = { ...a.models };
  for (const [name, used] of Object.entries(b.models)) models[name] = addModel(models[name], used);
  return { ...addTokens(a, b), models };
}

/** Rounds to a millionth of a cent, because sums of floating-point numbers are inexact. */
export function addCosts(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.round((a + b) * 1e8) / 1e8;
}

function addModel(a: ModelUsage | undefined, b: ModelUsage): ModelUsage {
  if (!a) return b;
  return { ...addTokens(a, b), cost_usd: addCosts(a.cost_usd, b.cost_usd) ?? 0 };
}

function addTokens(a: Tokens, b: Tokens): Tokens {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_input_tokens: a.cache_read_input_tokens + b.cache_read_input_tokens,
    cache_creation_input_tokens: a.cache_creation_input_tokens + b.cache_creation_input_tokens,
  };
}
