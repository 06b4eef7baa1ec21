import { type DeliveryList, type DeliveryQuery, deliverySchema, type Refusal } from "@herdctl/core";
import { z } from "zod";
import type { Shape } from "./shape.ts";

export const deliveryQuerySchema = z.strictObject({
  agent: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z.coerce.number().int().positive().optional(),
} satisfies Shape<DeliveryQuery>);

const refusalSchema = z.object({
  agent: z.string().nullable(),
  schedule: z.string().nullable(),
  reason: z.string(),
  count: z.number().int().positive(),
} satisfies Shape<Refusal>);

export const deliveryListSchema = z.object({
  deliveries: z.array(deliverySchema),
  next: z.number().int().nullable(),
  refused: z.array(refusalSchema),
} satisfies Shape<DeliveryList>);
