import { z } from "zod";

const time = z.iso.datetime();

const hookTypeSchema = z.enum(["shell", "webhook", "discord", "slack"]);

/**
 * One hook of one finished job, until it succeeds or has no retries left. The record contains only
 * a hash of the hook's configuration, because a URL in it may contain a secret.
 */
export const hookRunSchema = z.object({
  id: z.string(),
  job_id: z.string(),
  agent: z.string(),
  event: z.enum(["after_run", "on_error"]),
  /** Zero-based index in the configured list. */
  position: z.number().int().nonnegative(),
  type: hookTypeSchema,
  config_hash: z.string(),
  status: z.enum(["due", "running", "succeeded", "failed"]),
  /** Started attempts. Each may have had its effect, even if it was interrupted. */
  attempts: z.number().int().nonnegative(),
  due_at: time.nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  /** The result of the last attempt in one sentence. */
  message: z.string().nullable(),
  /** The end of its output. */
  output: z.string().nullable(),
});
export type HookRun = z.infer<typeof hookRunSchema>;

/** A hook to run for a finished job. */
export type PlannedHook = Pick<HookRun, "agent" | "event" | "position" | "type" | "config_hash">;

export type HookRunEnd = Pick<HookRun, "message" | "output"> &
  ({ status: "succeeded" | "failed" } | { status: "due"; due_at: string });
