import type { CostQuery, CostRow, CostTotals, CostView } from "@herdctl/protocol";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

export const costQuerySchema = z.strictObject({
  by: z.enum(["agent", "schedule", "model"]).default("agent"),
  days: z.coerce.number().int().min(1).max(366).default(30),
  agent: z.string().optional(),
} satisfies FieldSchemas<CostQuery>);

const countSchema = z.number().int().nonnegative();
const usdSchema = z.number().nonnegative();

const costSumFields = {
  usd: usdSchema,
  runs: countSchema,
  input_tokens: countSchema,
  output_tokens: countSchema,
  cache_read_input_tokens: countSchema,
  cache_creation_input_tokens: countSchema,
  usd_by_day: z.array(usdSchema),
  daily_limit_usd: usdSchema.nullable(),
} satisfies FieldSchemas<CostTotals>;

const costLineSchema = z.object({
  agent: z.string().nullable(),
  schedule: z.string().nullable(),
  model: z.string().nullable(),
  ...costSumFields,
} satisfies FieldSchemas<CostRow>);

export const costViewSchema = z.object({
  timezone: z.string(),
  days: z.array(z.string()),
  total: z.object(costSumFields),
  rows: z.array(costLineSchema),
} satisfies FieldSchemas<CostView>);
