import { createHash } from "node:crypto";
import {
  type AuditEntry,
  type AuditPage,
  type AuditQuery,
  type StoredAuditRecord,
  UserError,
} from "@herdctl/protocol";
import { auditEntrySchema, storedAuditRecordSchema } from "@herdctl/protocol/schemas";
import { canonicalJson } from "../../lib/canonical-json.ts";
import { pageLimit, readCursor, writeCursor } from "./page.ts";
import {
  damagedError,
  execute,
  queryRow,
  queryRows,
  readRecord,
  type SqlDatabase,
  type SqlProgram,
  type SqlRow,
  SqlStore,
  type SqlValue,
} from "./sql-program.ts";

const maxRowsPerRead = 500;

export class AuditStore extends SqlStore {
  append(entry: AuditEntry): Promise<StoredAuditRecord> {
    return this.database.groupCommit(() => appendAudit(this.database, entry, this.clock()));
  }

  async list(query: AuditQuery): Promise<AuditPage> {
    const { since, identity, action, cursor } = query;
    const limit = pageLimit(query);
    const [before] = cursor === undefined ? [] : readCursor(cursor, "integer");
    const candidates: [string, SqlValue | undefined][] = [
      ["number < ?", before],
      ["time >= ?", since?.toISOString()],
      ["identity = ?", identity],
      ["action = ?", action],
    ];
    const conditions = candidates.filter(
      (pair): pair is [string, SqlValue] => pair[1] !== undefined,
    );
    const where =
      conditions.length === 0 ? "" : `WHERE ${conditions.map(([sql]) => sql).join(" AND ")}`;
    const sql = `SELECT number AS id, hash, record FROM audit_log ${where} ORDER BY number DESC LIMIT ?`;
    const values = conditions.map(([, value]) => value);
    const rows = await this.database.read(() => queryRows(sql, ...values, limit + 1));
    const records = rows.slice(0, limit).map((row) => this.#parseRow(row));
    const last = rows.length > limit ? records.at(-1) : undefined;
    return { records, next_cursor: last ? writeCursor(last.number) : null };
  }

  head(): Promise<AuditHead> {
    return this.database.read(function* () {
      return toHead(yield* queryRow(selectHead));
    });
  }

  /** Rows as they are stored, in order, from this number on; a few at a time. */
  async readRowsFrom(number: number): Promise<AuditRow[]> {
    const sql =
      "SELECT number, record, hash FROM audit_log WHERE number >= ? ORDER BY number LIMIT ?";
    const rows = await this.database.read(() => queryRows(sql, number, maxRowsPerRead));
    return rows.map((row) => ({
      number: Number(row.number),
      record: String(row.record),
      hash: String(row.hash),
    }));
  }

  #parseRow(row: SqlRow): StoredAuditRecord {
    try {
      return readRecord(this.database, storedAuditRecordSchema, row, { hash: row.hash });
    } catch (cause) {
      const message = `record ${row.id} of the audit log in ${this.database.name} cannot be read`;
      const hint = "Run `herdctl audit verify` to see what was changed.";
      throw new UserError("state_damaged", message, { hint, cause });
    }
  }
}

/** Runs in the surrounding transaction, so that an action and its record are committed together. */
export function* appendAudit(
  database: SqlDatabase,
  entry: AuditEntry,
  now: Date,
): SqlProgram<StoredAuditRecord> {
  const head = toHead(yield* queryRow(selectHead));
  if (head.count === 0 && (yield* queryRow("SELECT 1 AS found FROM audit_log LIMIT 1"))) {
    throw damagedError(database.name, "the head of the audit log is missing");
  }
  const number = head.count + 1;
  const record = {
    number,
    time: now.toISOString(),
    ...auditEntrySchema.parse(entry),
    previous_hash: head.hash,
  };
  const hash = hashAuditRecord(record);
  const insert = "INSERT INTO audit_log (number, record, hash) VALUES (?, ?, ?)";
  yield* execute(insert, number, JSON.stringify(record), hash);
  const updateHead = `INSERT INTO audit_head (id, count, hash) VALUES (1, ?, ?)
    ON CONFLICT (id) DO UPDATE SET count = excluded.count, hash = excluded.hash`;
  yield* execute(updateHead, number, hash);
  return { ...record, hash };
}

const selectHead = "SELECT count, hash FROM audit_head WHERE id = 1";

function toHead(row: SqlRow | undefined): AuditHead {
  return row ? { count: Number(row.count), hash: String(row.hash) } : { count: 0, hash: null };
}

/**
 * The end of the log. It is stored apart from the records, so that removing the last records is
 * detected.
 */
interface AuditHead {
  count: number;
  hash: string | null;
}

/** A record as it is stored, before it is verified. */
interface AuditRow {
  number: number;
  record: string;
  hash: string;
}

export function hashAuditRecord(record: unknown): string {
  return createHash("sha256").update(canonicalJson(record)).digest("hex");
}

interface AuditProblem {
  kind: "edited" | "missing" | "truncated";
  /** The record, or the first of the missing ones. */
  number: number;
  message: string;
}

interface AuditVerification {
  head: AuditHead;
  problems: AuditProblem[];
}

const maxProblems = 20;

/** Follows the chain of hashes from the first record to the head. */
export async function verifyAudit(
  store: Pick<AuditStore, "head" | "readRowsFrom">,
): Promise<AuditVerification> {
  const problems: AuditProblem[] = [];
  let previous: AuditHead = { count: 0, hash: null };
  for (;;) {
    const rows = await store.readRowsFrom(previous.count + 1);
    for (const row of rows) {
      problems.push(...checkRow(row, previous));
      previous = { count: row.number, hash: row.hash };
    }
    if (problems.length >= maxProblems) break;
    if (rows.length > 0) continue;
    const head = await store.head();
    // A fleet may have appended a record after the page was read.
    if (head.count > previous.count && (await store.readRowsFrom(previous.count + 1)).length > 0)
      continue;
    return {
      head,
      /* defence: audit-head */ problems: [...problems, ...checkHead(head, previous)],
    };
  }
  return { head: await store.head(), problems: problems.slice(0, maxProblems) };
}

function checkRow({ number, record, hash }: AuditRow, previous: AuditHead): AuditProblem[] {
  const expected = previous.count + 1;
  const problems: AuditProblem[] = [];
  if (number !== expected) {
    const which = number - 1 === expected ? `${expected} is` : `${expected} to ${number - 1} are`;
    problems.push({ kind: "missing", number: expected, message: `record ${which} missing` });
  }
  const content = parseRecord(record);
  if (content?.number !== number || hashAuditRecord(content) !== hash) {
    problems.push({ kind: "edited", number, message: `record ${number} was edited` });
  } else if (
    number === expected &&
    /* defence: audit-previous-hash */ content.previous_hash !== previous.hash
  ) {
    const message = `record ${number - 1} was replaced: record ${number} refers to a different one`;
    problems.push({ kind: "edited", number: Math.max(1, number - 1), message });
  }
  return problems;
}

function checkHead(head: AuditHead, previous: AuditHead): AuditProblem[] {
  const first = previous.count + 1;
  if (head.count > previous.count) {
    const which = head.count === first ? `record ${first} is` : `records ${first} to ${head.count}`;
    const verb = head.count === first ? "" : " are";
    const message = `the log is truncated: ${which}${verb} missing`;
    return [{ kind: "truncated", number: first, message }];
  }
  if (head.count === previous.count && head.hash === previous.hash) return [];
  const message =
    head.count < previous.count
      ? `the head of the log was changed: it counts ${head.count} of ${previous.count} records`
      : `record ${previous.count} was replaced: the head of the log refers to a different one`;
  return [{ kind: "edited", number: previous.count, message }];
}

function parseRecord(record: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(record);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
