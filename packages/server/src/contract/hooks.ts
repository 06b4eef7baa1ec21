import { type HookQuery, hookRunSchema } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

export const hookQuerySchema = z.strictObject({
  jobId: z.string().optional(),
  status: hookRunSchema.shape.status.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
} satisfies Shape<HookQuery>);
