import {
  type AuditEntry,
  type AuditHead,
  type AuditPage,
  type AuditQuery,
  type AuditRow,
  type AuditStore,
  auditEntrySchema,
  hashAuditRecord,
  type StoredAuditRecord,
  storedAuditRecordSchema,
} from "../audit.ts";
import { damaged, readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, type Row, run, type Steps, type Value } from "./steps.ts";

const rowsAtOnce = 500;

export class SqlAuditStore implements AuditStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  append(entry: AuditEntry): Promise<StoredAuditRecord> {
    return this.#database.together(() => appendAudit(this.#database, entry, this.#clock()));
  }

  async list({ since, identity, action, limit, cursor }: AuditQuery): Promise<AuditPage> {
    const wanted: [string, Value | undefined][] = [
      ["number < ?", cursor],
      ["time >= ?", since?.toISOString()],
      ["identity = ?", identity],
      ["action = ?", action],
    ];
    const given = wanted.filter((pair): pair is [string, Value] => pair[1] !== undefined);
    const where = given.length === 0 ? "" : `WHERE ${given.map(([sql]) => sql).join(" AND ")}`;
    const sql = `SELECT number AS id, hash, record FROM audit_log ${where} ORDER BY number DESC LIMIT ?`;
    const values = given.map(([, value]) => value);
    const rows = await this.#database.read(() => all(sql, ...values, limit + 1));
    const records = rows
      .slice(0, limit)
      .map((row) => readRecord(this.#database, storedAuditRecordSchema, row, { hash: row.hash }));
    return { records, next: rows.length > limit ? (records.at(-1)?.number ?? null) : null };
  }

  head(): Promise<AuditHead> {
    return this.#database.read(function* () {
      return headOf(yield* one(selectHead));
    });
  }

  async rowsFrom(number: number): Promise<AuditRow[]> {
    const sql =
      "SELECT number, record, hash FROM audit_log WHERE number >= ? ORDER BY number LIMIT ?";
    const rows = await this.#database.read(() => all(sql, number, rowsAtOnce));
    return rows.map((row) => ({
      number: Number(row.number),
      record: String(row.record),
      hash: String(row.hash),
    }));
  }
}

/** Part of the transaction that it is run in, so that an action and its record are kept together. */
export function* appendAudit(
  database: SqlDatabase,
  entry: AuditEntry,
  now: Date,
): Steps<StoredAuditRecord> {
  const head = headOf(yield* one(selectHead));
  if (head.count === 0 && (yield* one("SELECT 1 AS found FROM audit_log LIMIT 1"))) {
    throw damaged(database.name, "the head of the audit log is missing");
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
  yield* run(insert, number, JSON.stringify(record), hash);
  const moveHead = `INSERT INTO audit_head (id, count, hash) VALUES (1, ?, ?)
    ON CONFLICT (id) DO UPDATE SET count = excluded.count, hash = excluded.hash`;
  yield* run(moveHead, number, hash);
  return { ...record, hash };
}

const selectHead = "SELECT count, hash FROM audit_head WHERE id = 1";

function headOf(row: Row | undefined): AuditHead {
  return row ? { count: Number(row.count), hash: String(row.hash) } : { count: 0, hash: null };
}
