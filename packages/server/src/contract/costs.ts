import type { CostLine, CostRequest, CostSum, CostView } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

export const costQuerySchema = z.strictObject({
  by: z.enum(["agent", "schedule", "model"]).default("agent"),
  days: z.coerce.number().int().min(1).max(366).default(30),
  agent: z.string().optional(),
} satisfies Shape<CostRequest>);

const count = z.number().int().nonnegative();
const money = z.number().nonnegative();

const sum = {
  usd: money,
  runs: count,
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  usd_by_day: z.array(money),
  daily_limit_usd: money.nullable(),
} satisfies Shape<CostSum>;

const lineSchema = z.object({
  agent: z.string().nullable(),
  schedule: z.string().nullable(),
  model: z.string().nullable(),
  ...sum,
} satisfies Shape<CostLine>);

export const costViewSchema = z.object({
  timezone: z.string(),
  days: z.array(z.string()),
  total: z.object(sum),
  lines: z.array(lineSchema),
} satisfies Shape<CostView>);
