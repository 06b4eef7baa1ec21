import {
  type DueTimePage,
  type DueTimeQuery,
  type DueTimeRecord,
  type Job,
  UserError,
} from "@herdctl/protocol";
import { dueTimeRecordSchema, scheduleCursorSchema } from "@herdctl/protocol/schemas";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import {
  execute,
  queryRow,
  queryRows,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

/** Runs in the transaction that creates the job, so that a due time has both or neither. */
export function* recordDueTimeOfJob(
  database: SqlDatabase,
  { id, agent, schedule, status, outcome, created_at }: Job,
  { due_at, through }: { due_at: string; through: string },
): SqlProgram<void> {
  const isSkipped = status === "skipped";
  const record = dueTimeRecordSchema.parse({
    agent,
    schedule,
    due_at,
    last_due_at: due_at,
    count: 1,
    result: isSkipped ? "skipped" : "ran",
    reason: isSkipped ? outcome?.code : null,
    job_id: id,
    settled_at: created_at,
  });
  yield* insertDueRecord(database, record, through);
}

/** A due time has one record. Returns false if another node has settled it. */
export function* insertDueRecord(
  database: SqlDatabase,
  record: DueTimeRecord,
  through: string,
): SqlProgram<boolean> {
  const { agent, schedule, due_at } = record;
  const sql = `INSERT INTO due_times (agent, schedule, due_at, record) VALUES (?, ?, ?, ?)
               ON CONFLICT (agent, schedule, due_at) DO NOTHING`;
  const isNew = (yield* execute(sql, agent, schedule, due_at, JSON.stringify(record))) > 0;
  if (isNew) yield* advanceCursor(database, record, through, (before) => before < through);
  return isNew;
}

export function* isDueTimeSettled(
  { agent, schedule }: { agent: string; schedule: string },
  dueAt: string,
): SqlProgram<boolean> {
  const sql = "SELECT 1 AS found FROM due_times WHERE agent = ? AND schedule = ? AND due_at = ?";
  return (yield* queryRow(sql, agent, schedule, dueAt)) !== undefined;
}

/** Updates how far a schedule is settled, if `shouldAdvance` accepts the recorded value. */
export function* advanceCursor(
  database: SqlDatabase,
  { agent, schedule }: { agent: string; schedule: string },
  through: string,
  shouldAdvance: (before: string) => boolean,
): SqlProgram<void> {
  const where = "WHERE agent = ? AND schedule = ?";
  const sql = `SELECT schedule AS id, record FROM schedules ${where}`;
  const row = yield* queryRow(sql, agent, schedule);
  const scheduleCursor = row && readRecord(database, scheduleCursorSchema, row);
  if (!scheduleCursor || !shouldAdvance(scheduleCursor.settled_through)) return;
  const update = `UPDATE schedules SET record = ? ${where}`;
  yield* execute(
    update,
    JSON.stringify({ ...scheduleCursor, settled_through: through }),
    agent,
    schedule,
  );
}

/** Each filter uses an index, so that a page costs the same in a long ledger. */
export function* readDuePage(database: SqlDatabase, query: DueTimeQuery): SqlProgram<DueTimePage> {
  const conditions: [sql: string, ...values: SqlValue[]][] = [];
  if (query.agent !== undefined) conditions.push(["agent = ?", query.agent]);
  if (query.schedule !== undefined) conditions.push(["schedule = ?", query.schedule]);
  if (query.cursor !== undefined) {
    conditions.push(["(due_at, agent, schedule) < (?, ?, ?)", ...readCursor(query.cursor)]);
  }
  const where = conditions.map(([sql]) => sql).join(" AND ") || "true";
  const rows = yield* queryRows(
    `SELECT agent, schedule, due_at, due_at AS id, record FROM due_times WHERE ${where}
     ORDER BY due_at DESC, agent DESC, schedule DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    query.limit + 1,
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    records: page.map((row) => readRecord(database, dueTimeRecordSchema, row)),
    next: rows.length > page.length && last ? writeCursor(last) : null,
  };
}

function writeCursor({ due_at, agent, schedule }: SqlRow): string {
  return Buffer.from(JSON.stringify([due_at, agent, schedule])).toString("base64url");
}

function readCursor(cursor: string): SqlValue[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parts) && parts.length === 3) return parts.map(String);
  } catch {
    // Reported below.
  }
  throw new UserError("usage", `${JSON.stringify(cursor)} is not a valid cursor`);
}
