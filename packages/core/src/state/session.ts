import { z } from "zod";
import { given } from "./given.ts";
import { placeSchema } from "./job.ts";
import { processIdentitySchema } from "./process-identity.ts";
import { usageSchema } from "./usage.ts";

const time = z.iso.datetime();

export const sessionSchema = z.object({
  session_id: z.string().min(1),
  agent: z.string().min(1),
  place: placeSchema,
  cwd: z.string(),
  config_dir: z.string().nullable(),
  created_at: time,
  last_used_at: time,
  expires_at: time.nullable(),
  job_id: z.string().nullable(),
  /** Where its files lie; none in a state that is not shared. Older records know no nodes. */
  node: z.string().nullable().default(null),
  /** Set where it is this schedule's own: no other run goes on in it by itself. */
  schedule: z.string().nullable(),
  /** It is a conversation's own: no other job goes on with it by itself. */
  in_chat: z.boolean(),
  /** Totals over the whole life of the session, as claude counts them: a run's share is a difference. */
  cost_total_usd: z.number().nonnegative(),
  usage_total: usageSchema.nullable(),
  turns: z.number().int().nonnegative(),
});
export type Session = z.infer<typeof sessionSchema>;

/** What is known of a session after a run; what is left out stays as it was. */
export const sessionInfoSchema = given(
  sessionSchema
    .omit({ created_at: true, last_used_at: true })
    .partial()
    .required({ session_id: true, agent: true, place: true, cwd: true })
    // Without its default: what is left out stays as it was.
    .extend({ node: z.string().nullable().optional() })
    .strict(),
);
export type SessionInfo = z.infer<typeof sessionInfoSchema>;

export function isExpired(session: Session, now: Date): boolean {
  return session.expires_at !== null && Date.parse(session.expires_at) <= now.getTime();
}

/** Who writes to a session: a process, for a job, on a node where the state is shared. */
export const leaseHolderSchema = processIdentitySchema.extend({
  job_id: z.string(),
  node: z.string().nullable().optional(),
});
export type LeaseHolder = z.infer<typeof leaseHolderSchema>;

export interface Lease {
  holder: LeaseHolder;
  until: string;
}

export type LeaseAnswer = { granted: true } | ({ granted: false } & Lease);
