import { z } from "zod";

const time = z.iso.datetime();

/** Which schedule is meant. */
export interface ScheduleName {
  agent: string;
  schedule: string;
}

const skippedReasons = ["overlap", "gate_closed", "budget_exceeded", "paused"] as const;
const missedReasons = [
  "too_old",
  "superseded",
  "not_caught_up",
  "too_many",
  "changed",
  "removed",
  "already_past",
] as const;
export type MissedReason = (typeof missedReasons)[number];

/** What became of a due time. The ledger holds one for each; a row of missed ones shares one. */
export const dueRecordSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  due_at: time,
  /** The last one that this record speaks for; the same unless several were missed in a row. */
  until: time,
  /** How many it speaks for; null when they are too many to be counted. */
  count: z.number().int().positive().nullable(),
  result: z.enum(["ran", "skipped", "missed"]),
  reason: z.enum([...skippedReasons, ...missedReasons]).nullable(),
  job_id: z.string().nullable(),
  settled_at: time,
});
export type DueRecord = z.infer<typeof dueRecordSchema>;

/** How far a schedule is settled, and what its plan was when it was. */
export const scheduleMarkSchema = z.object({
  plan: z.unknown(),
  since: time,
  through: time,
});

export interface MarkedSchedule extends ScheduleName, z.infer<typeof scheduleMarkSchema> {
  /** Due times after `through` that have a record already. */
  ahead: string[];
  /** When the last job of the schedule ended. */
  last_end: string | null;
  /** A job of the schedule is not over. */
  busy: boolean;
}
