import { z } from "zod";

const time = z.iso.datetime();

/** Identifies a schedule. */
export interface ScheduleRef {
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

/** The result of a due time in the ledger. Consecutive missed due times share one record. */
export const dueTimeRecordSchema = z.object({
  agent: z.string().min(1),
  schedule: z.string().min(1),
  due_at: time,
  /** The last due time of this record; equal to `due_at` for a single due time. */
  last_due_at: time,
  /** Number of due times in this record; null if they are too many to count. */
  count: z.number().int().positive().nullable(),
  result: z.enum(["ran", "skipped", "missed"]),
  reason: z.enum([...skippedReasons, ...missedReasons]).nullable(),
  job_id: z.string().nullable(),
  settled_at: time,
});
export type DueTimeRecord = z.infer<typeof dueTimeRecordSchema>;

/** The time up to which all due times of a schedule are settled, and the plan that applied. */
export const scheduleCursorSchema = z.object({
  plan: z.unknown(),
  since: time,
  settled_through: time,
});

export interface ScheduleCursor extends ScheduleRef, z.infer<typeof scheduleCursorSchema> {
  /** Due times after `settled_through` that already have a record. */
  settled_ahead: string[];
  /** End of the last job of the schedule. */
  last_end: string | null;
  /** The schedule has an unfinished job. */
  busy: boolean;
}
