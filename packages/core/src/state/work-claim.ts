import { z } from "zod";

const time = z.iso.datetime();

/**
 * An item of work that this fleet took, or is about to take. It is written before the source is
 * asked, so that whatever comes between is found again.
 */
export const workClaimSchema = z.object({
  id: z.string(),
  agent: z.string(),
  /** Where the item is kept, such as `github:owner/name`. */
  source: z.string(),
  item: z.string(),
  title: z.string(),
  url: z.string().nullable(),
  /** Chosen beforehand; the job may never have come to be. */
  job_id: z.string(),
  status: z.enum(["claiming", "claimed", "completed", "released", "lost"]),
  /** What the source knows this claim by; changes with each renewal. */
  handle: z.string().nullable(),
  claimed_at: time,
  renewed_at: time,
  settled_at: time.nullable(),
  /** People can see that it is worked on. */
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
