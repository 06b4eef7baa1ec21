import { z } from "zod";

const time = z.iso.datetime();

/** A run that an agent has planned for itself. It is a schedule like any other until it has come due. */
export const oneShotSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  at: time,
  prompt: z.string(),
  /** The job that planned it. */
  job_id: z.string(),
  /** What it says came from a job that read text from outside. */
  untrusted: z.boolean(),
  planned_at: time,
  key: z.string(),
});
export type OneShot = z.infer<typeof oneShotSchema>;
export type NewOneShot = Omit<OneShot, "schedule" | "planned_at">;

/** An interval in place of the one in the configuration, for as long as that one stands there. */
export const changedIntervalSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  /** Milliseconds. */
  every: z.number().int().positive(),
  instead_of: z.number().int().positive(),
  /** The job that asked for it. */
  job_id: z.string(),
});
export type ChangedInterval = z.infer<typeof changedIntervalSchema>;
