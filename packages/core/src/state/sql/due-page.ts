import { UserError } from "../../errors/user-error.ts";
import { dueRecordSchema } from "../due-time.ts";
import type { DuePage, DueQuery } from "../schedule-store.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, type Row, type Steps, type Value } from "./steps.ts";

/** One index serves each kind of question, so that a page costs the same however long the ledger is. */
export function* readDuePage(database: SqlDatabase, query: DueQuery): Steps<DuePage> {
  const conditions: [sql: string, ...values: Value[]][] = [];
  if (query.agent !== undefined) conditions.push(["agent = ?", query.agent]);
  if (query.schedule !== undefined) conditions.push(["schedule = ?", query.schedule]);
  if (query.cursor !== undefined) {
    conditions.push(["(due_at, agent, schedule) < (?, ?, ?)", ...readCursor(query.cursor)]);
  }
  const where = conditions.map(([sql]) => sql).join(" AND ") || "true";
  const rows = yield* all(
    `SELECT agent, schedule, due_at, due_at AS id, record FROM due_times WHERE ${where}
     ORDER BY due_at DESC, agent DESC, schedule DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    query.limit + 1,
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    records: page.map((row) => readRecord(database, dueRecordSchema, row)),
    next: rows.length > page.length && last ? writeCursor(last) : null,
  };
}

function writeCursor({ due_at, agent, schedule }: Row): string {
  return Buffer.from(JSON.stringify([due_at, agent, schedule])).toString("base64url");
}

function readCursor(cursor: string): Value[] {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(parts) && parts.length === 3) return parts.map(String);
  } catch {
    // Said below.
  }
  throw new UserError("usage", `${JSON.stringify(cursor)} does not mark a place in the ledger`);
}
