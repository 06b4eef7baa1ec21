import { UserError } from "../../errors/user-error.ts";
import type { JobQuery } from "../job-store.ts";
import { all, type Row, type Steps, type Value } from "./steps.ts";

/** Every condition narrows a walk down one index, so that a page costs the same however many there are. */
export function* readPage(query: JobQuery): Steps<{ rows: Row[]; next: string | null }> {
  checkLimit(query.limit);
  const conditions: [sql: string, ...values: Value[]][] = [];
  if (query.agent !== undefined) conditions.push(["agent = ?", query.agent]);
  if (query.status !== undefined) conditions.push(["status = ?", query.status]);
  if (query.outcome !== undefined) conditions.push(["outcome_code = ?", query.outcome]);
  if (query.since !== undefined) conditions.push(["created_at >= ?", query.since.toISOString()]);
  if (query.until !== undefined) conditions.push(["created_at < ?", query.until.toISOString()]);
  if (query.schedule !== undefined) conditions.push(["schedule = ?", query.schedule]);
  if (query.session !== undefined) conditions.push(["session_id = ?", query.session]);
  if (query.cursor !== undefined) {
    conditions.push(["(created_at, seq) < (?, ?)", ...readCursor(query.cursor)]);
  }
  const where =
    conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
  const rows = yield* all(
    `SELECT seq, id, created_at, record FROM jobs ${where} ORDER BY created_at DESC, seq DESC LIMIT ?`,
    ...conditions.flatMap(([, ...values]) => values),
    query.limit + 1,
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return { rows: page, next: rows.length > page.length && last ? writeCursor(last) : null };
}

function checkLimit(limit: number): void {
  if (Number.isInteger(limit) && limit >= 1 && limit <= 1000) return;
  throw new UserError("usage", `a page has 1 to 1000 jobs, not ${limit}`);
}

function writeCursor(row: Row): string {
  return Buffer.from(`${row.created_at} ${row.seq}`).toString("base64url");
}

function readCursor(cursor: string): [createdAt: string, seq: number] {
  const [createdAt = "", seq = ""] = Buffer.from(cursor, "base64url").toString().split(" ");
  if (!/^\d+$/.test(seq)) {
    throw new UserError("usage", `${JSON.stringify(cursor)} does not mark a place in the list`);
  }
  return [createdAt, Number(seq)];
}
