import { z } from "zod";
import { sessionHomeSchema } from "./job.ts";
import { omitUndefined } from "./omit-undefined.ts";
import { processIdentitySchema } from "./process-identity.ts";
import { usageSchema } from "./usage.ts";

const time = z.iso.datetime();

export const sessionSchema = z.object({
  session_id: z.string().min(1),
  agent: z.string().min(1),
  session_home: sessionHomeSchema,
  cwd: z.string(),
  config_dir: z.string().nullable(),
  created_at: time,
  last_used_at: time,
  expires_at: time.nullable(),
  job_id: z.string().nullable(),
  /** The node with the session files; null without a shared store, missing in older records. */
  node: z.string().nullable().default(null),
  /** The schedule that owns the session. Other jobs do not continue it automatically. */
  schedule: z.string().nullable(),
  /** A conversation owns the session. Other jobs do not continue it automatically. */
  in_chat: z.boolean(),
  /** Totals of the session as claude counts them. The share of a run is a difference. */
  cost_total_usd: z.number().nonnegative(),
  usage_total: usageSchema.nullable(),
  turns: z.number().int().nonnegative(),
});
export type Session = z.infer<typeof sessionSchema>;

/** Facts about a session after a run. Omitted fields keep their value. */
export const sessionInfoSchema = omitUndefined(
  sessionSchema
    .omit({ created_at: true, last_used_at: true })
    .partial()
    .required({ session_id: true, agent: true, session_home: true, cwd: true })
    // Without its default, because omitted fields keep their value.
    .extend({ node: z.string().nullable().optional() })
    .strict(),
);
export type SessionInfo = z.infer<typeof sessionInfoSchema>;

export function isExpired(session: Session, now: Date): boolean {
  return session.expires_at !== null && Date.parse(session.expires_at) <= now.getTime();
}

/** The process that may write to a session, its job, and its node if the store is shared. */
export const leaseHolderSchema = processIdentitySchema.extend({
  job_id: z.string(),
  node: z.string().nullable().optional(),
});
export type SessionLeaseHolder = z.infer<typeof leaseHolderSchema>;

export interface SessionLease {
  holder: SessionLeaseHolder;
  until: string;
}

export type SessionLeaseResult = { granted: true } | ({ granted: false } & SessionLease);
