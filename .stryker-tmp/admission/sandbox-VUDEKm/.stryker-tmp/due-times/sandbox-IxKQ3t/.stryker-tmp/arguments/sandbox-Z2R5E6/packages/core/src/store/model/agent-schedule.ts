import { z } from "zod";

const isoDateTimeSchema = z.iso.datetime();

/** A run that an agent planned for itself. It is a normal schedule until it comes due. */
export const oneShotSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  at: isoDateTimeSchema,
  prompt: z.string(),
  /** The job that planned it. */
  job_id: z.string(),
  /** A job that read text from outside wrote the prompt. */
  untrusted: z.boolean(),
  planned_at: isoDateTimeSchema,
  key: z.string(),
});
export type OneShot = z.infer<typeof oneShotSchema>;
export type NewOneShot = Omit<OneShot, "schedule" | "planned_at">;

/** An interval that replaces the configured one, as long as that one does not change. */
export const intervalOverrideSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  /** Milliseconds. */
  every: z.number().int().positive(),
  instead_of: z.number().int().positive(),
  /** The job that requested it. */
  job_id: z.string(),
});
export type IntervalOverride = z.infer<typeof intervalOverrideSchema>;
