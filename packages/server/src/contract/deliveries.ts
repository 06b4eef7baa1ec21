import type { DeliveryListView, DeliveryQuery, RefusalCount } from "@herdctl/protocol";
import { deliverySchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import type { FieldSchemas } from "./field-schemas.ts";

export const deliveryQuerySchema = z.strictObject({
  agent: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.string().optional(),
} satisfies FieldSchemas<DeliveryQuery>);

const refusalSchema = z.object({
  agent: z.string().nullable(),
  schedule: z.string().nullable(),
  reason: z.string(),
  count: z.number().int().positive(),
} satisfies FieldSchemas<RefusalCount>);

export const deliveryListSchema = z.object({
  deliveries: z.array(deliverySchema),
  next_cursor: z.string().nullable(),
  refused: z.array(refusalSchema),
} satisfies FieldSchemas<DeliveryListView>);
