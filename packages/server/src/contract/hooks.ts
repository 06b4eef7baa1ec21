import type { HookQuery } from "@herdctl/protocol";
import { hookRunSchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

export const hookQuerySchema = z.strictObject({
  job: z.string().optional(),
  status: hookRunSchema.shape.status.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
} satisfies FieldSchemas<HookQuery>);
