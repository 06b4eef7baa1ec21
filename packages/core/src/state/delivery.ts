import { z } from "zod";

const time = z.iso.datetime();
const text = z.string().nullable();

/** What came in by a webhook and proved where it came from, and what became of it. */
export const deliverySchema = z.object({
  id: z.string(),
  agent: z.string(),
  schedule: z.string(),
  /** The same for every sending of the same thing. */
  key: z.string(),
  received_at: time,
  event: text,
  content_type: z.string(),
  /** Those that tell what it is; never one that proves it. */
  headers: z.record(z.string(), z.string()),
  bytes: z.number().int().nonnegative(),
  verdict: z.enum(["accepted", "unwanted"]),
  /** Why it is not wanted. */
  reason: text,
  job_id: text,
  /** How often it came again. */
  redeliveries: z.number().int().nonnegative(),
  replay_of: text,
});
export type Delivery = z.infer<typeof deliverySchema>;

export type NewDelivery = Omit<Delivery, "id" | "received_at" | "redeliveries"> & { body: string };

/** A delivery that asks for a job; its record names the one that it gets. */
export type WantedDelivery = Omit<NewDelivery, "job_id">;

/** The body stands apart: it may be large, and a list has no use for it. */
export const deliveryWithBodySchema = deliverySchema.extend({ body: z.string() });
export type DeliveryWithBody = z.infer<typeof deliveryWithBodySchema>;
