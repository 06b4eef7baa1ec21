import { z } from "zod";

const time = z.iso.datetime();
const nullableText = z.string().nullable();

/** An authenticated webhook delivery and its result. */
export const deliverySchema = z.object({
  id: z.string(),
  agent: z.string(),
  schedule: z.string(),
  /** Identical for redeliveries of the same event. */
  dedup_key: z.string(),
  received_at: time,
  event: nullableText,
  content_type: z.string(),
  /** Descriptive headers only, never signatures or tokens. */
  headers: z.record(z.string(), z.string()),
  bytes: z.number().int().nonnegative(),
  status: z.enum(["accepted", "unwanted"]),
  /** Why no job was created. */
  reason: nullableText,
  job_id: nullableText,
  /** Number of further deliveries with the same key. */
  redeliveries: z.number().int().nonnegative(),
  replay_of: nullableText,
});
export type Delivery = z.infer<typeof deliverySchema>;

export type NewDelivery = Omit<Delivery, "id" | "received_at" | "redeliveries"> & { body: string };

/** A delivery that creates a job. The job ID is added to its record. */
export type AcceptedDelivery = Omit<NewDelivery, "job_id">;

/** The body is separate, because it may be large and lists do not need it. */
export const deliveryWithBodySchema = deliverySchema.extend({ body: z.string() });
export type DeliveryWithBody = z.infer<typeof deliveryWithBodySchema>;
