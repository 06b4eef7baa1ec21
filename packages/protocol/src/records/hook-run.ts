import { z } from "zod";
import { hookEvents } from "./hook-events.ts";
import { outcomeSchema } from "./outcome.ts";

const time = z.iso.datetime();

/** `web_push` is not configured: it notifies a browser that has subscribed. */
const hookTypeSchema = z.enum(["shell", "webhook", "discord", "slack", "web_push"]);

/** Why a hook runs before the end of its job. */
export const hookCauseSchema = z.discriminatedUnion("kind", [
  /** A person is asked for a permission or an answer. */
  z.object({ kind: z.literal("question"), approval_id: z.string() }),
  /** The job waits for its next attempt, with the outcome that made it wait. */
  z.object({
    kind: z.literal("wait"),
    attempt: z.number().int().positive(),
    outcome: outcomeSchema,
    until: time,
  }),
]);
export type HookCause = z.infer<typeof hookCauseSchema>;

/**
 * One hook for one event of a job, until it succeeds or has no retries left. The record contains
 * only a hash of the hook's configuration, because a URL in it may contain a secret.
 */
export const hookRunSchema = z.object({
  id: z.string(),
  job_id: z.string(),
  agent: z.string(),
  event: z.enum(hookEvents),
  /** Null for the end of the job; missing in older records. */
  cause: hookCauseSchema.nullable().default(null),
  /** Zero-based index in the configured list. */
  position: z.number().int().nonnegative(),
  type: hookTypeSchema,
  /** For `web_push`, the id of the subscription. */
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

/** A hook to run for an event of a job. */
export type PlannedHook = Pick<
  HookRun,
  "agent" | "event" | "cause" | "position" | "type" | "config_hash"
>;

export type HookRunEnd = Pick<HookRun, "message" | "output"> &
  ({ status: "succeeded" | "failed" } | { status: "due"; due_at: string });
