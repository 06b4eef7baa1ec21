import { z } from "zod";

const count = z.number().int().nonnegative();

const tokenFields = {
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
};

/** Tokens in all, and by model with what each cost. */
export const usageSchema = z.object({
  ...tokenFields,
  models: z.record(z.string(), z.object({ ...tokenFields, cost_usd: z.number().nonnegative() })),
});
export type Usage = z.infer<typeof usageSchema>;
