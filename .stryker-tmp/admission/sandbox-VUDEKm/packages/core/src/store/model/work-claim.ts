import { z } from "zod";

const isoDateTimeSchema = z.iso.datetime();

/**
 * A work item that this fleet has claimed or is about to claim. It is written before the source is
 * asked, so that it can be settled after a crash.
 */
export const workClaimSchema = z.object({
  id: z.string(),
  agent: z.string(),
  /** Location of the item, such as `github:owner/name`. */
  source: z.string(),
  item: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  /** Chosen before admission, so the job may not exist. */
  job_id: z.string(),
  status: z.enum(["claiming", "claimed", "completed", "released", "lost"]),
  /** The source's identifier of this claim; changes with each renewal. */
  handle: z.string().nullable(),
  claimed_at: isoDateTimeSchema,
  renewed_at: isoDateTimeSchema,
  settled_at: isoDateTimeSchema.nullable(),
  /** The claim is visible to people. */
  announced: z.boolean(),
  /** Its job did not succeed. */
  failed: z.boolean(),
  note: z.string().nullable(),
});
export type WorkClaim = z.infer<typeof workClaimSchema>;

export type NewWorkClaim = Pick<
  WorkClaim,
  "agent" | "source" | "item" | "title" | "url" | "job_id"
>;

export type WorkClaimChange = Partial<
  Pick<WorkClaim, "status" | "handle" | "renewed_at" | "announced" | "failed" | "note">
>;
