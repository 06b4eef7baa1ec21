import { type DueRecord, dueRecordSchema } from "../due-time.ts";
import type { Job } from "../job.ts";
import type { Database } from "./database.ts";

/** Within the transaction that makes the job: so a due time has both or neither. */
export function recordJobOfDue(
  database: Database,
  { id, agent, schedule, status, outcome, created_at }: Job,
  { due_at, through }: { due_at: string; through: string },
): void {
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
  insertDue(database, record, through);
}

/** A due time has one record: a second one is a bug, and fails. */
export function insertDue(database: Database, record: DueRecord, through: string): void {
  const { agent, schedule, due_at } = record;
  const sql = "INSERT INTO due_times (agent, schedule, due_at, record) VALUES (?, ?, ?, ?)";
  database.run(sql, agent, schedule, due_at, JSON.stringify(record));
  database.run(
    `UPDATE schedules SET record = json_set(record, '$.through', ?1)
     WHERE agent = ?2 AND schedule = ?3 AND through < ?1`,
    through,
    agent,
    schedule,
  );
}
