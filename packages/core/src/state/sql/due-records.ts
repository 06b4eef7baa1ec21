import { type DueRecord, dueRecordSchema, scheduleMarkSchema } from "../due-time.ts";
import type { Job } from "../job.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { one, run, type Steps } from "./steps.ts";

/** Within the transaction that makes the job: so a due time has both or neither. */
export function* recordJobOfDue(
  database: SqlDatabase,
  { id, agent, schedule, status, outcome, created_at }: Job,
  { due_at, through }: { due_at: string; through: string },
): Steps<void> {
  const isSkipped = status === "skipped";
  const record = dueRecordSchema.parse({
    agent,
    schedule,
    due_at,
    until: due_at,
    count: 1,
    result: isSkipped ? "skipped" : "ran",
    reason: isSkipped ? outcome?.code : null,
    job_id: id,
    settled_at: created_at,
  });
  yield* insertDue(database, record, through);
}

/** A due time has one record. Another node may have settled it: then false, and nothing changes. */
export function* insertDue(
  database: SqlDatabase,
  record: DueRecord,
  through: string,
): Steps<boolean> {
  const { agent, schedule, due_at } = record;
  const sql = `INSERT INTO due_times (agent, schedule, due_at, record) VALUES (?, ?, ?, ?)
               ON CONFLICT (agent, schedule, due_at) DO NOTHING`;
  const isNew = (yield* run(sql, agent, schedule, due_at, JSON.stringify(record))) > 0;
  if (isNew) yield* settleThrough(database, record, through, (before) => before < through);
  return isNew;
}

export function* isSettled(
  { agent, schedule }: { agent: string; schedule: string },
  dueAt: string,
): Steps<boolean> {
  const sql = "SELECT 1 AS found FROM due_times WHERE agent = ? AND schedule = ? AND due_at = ?";
  return (yield* one(sql, agent, schedule, dueAt)) !== undefined;
}

/** Puts down how far a marked schedule is settled, if what is on record passes. */
export function* settleThrough(
  database: SqlDatabase,
  { agent, schedule }: { agent: string; schedule: string },
  through: string,
  passes: (before: string) => boolean,
): Steps<void> {
  const where = "WHERE agent = ? AND schedule = ?";
  const sql = `SELECT schedule AS id, record FROM schedules ${where}`;
  const row = yield* one(sql, agent, schedule);
  const mark = row && readRecord(database, scheduleMarkSchema, row);
  if (!mark || !passes(mark.through)) return;
  const update = `UPDATE schedules SET record = ? ${where}`;
  yield* run(update, JSON.stringify({ ...mark, through }), agent, schedule);
}
