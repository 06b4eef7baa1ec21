import { z } from "zod";

const time = z.iso.datetime();

const hookTypeSchema = z.enum(["shell", "webhook", "discord", "slack"]);

/**
 * One hook of one finished job, from the moment it is due until it succeeded or was given up.
 * What it does stays in the configuration, where a URL may hold a secret: here is only its print.
 */
export const hookRunSchema = z.object({
  id: z.string(),
  job_id: z.string(),
  agent: z.string(),
  event: z.enum(["after_run", "on_error"]),
  /** Its place in that list, from zero. */
  position: z.number().int().nonnegative(),
  type: hookTypeSchema,
  print: z.string(),
  status: z.enum(["due", "running", "succeeded", "failed"]),
  /** Begun ones; each may have had its effect, also one that was cut off. */
  attempts: z.number().int().nonnegative(),
  due_at: time.nullable(),
  created_at: time,
  started_at: time.nullable(),
  finished_at: time.nullable(),
  /** What the last attempt came to, in a sentence. */
  message: z.string().nullable(),
  /** The end of what it said. */
  output: z.string().nullable(),
});
export type HookRun = z.infer<typeof hookRunSchema>;

/** A hook that a finished job calls for. */
export type CalledHook = Pick<HookRun, "agent" | "event" | "position" | "type" | "print">;

export type HookEnd = Pick<HookRun, "message" | "output"> &
  ({ status: "succeeded" | "failed" } | { status: "due"; due_at: string });
