import {
  type AuditEntry,
  type AuditPage,
  type AuditQuery,
  type StoredAuditRecord,
  UserError,
} from "@herdctl/protocol";
import { auditEntrySchema, storedAuditRecordSchema } from "@herdctl/protocol/schemas";
import {
  type AuditHead,
  type AuditRow,
  type AuditStore,
  hashAuditRecord,
} from "../model/audit-log.ts";
import { damagedError, readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import {
  execute,
  queryRow,
  queryRows,
  type SqlProgram,
  type SqlRow,
  type SqlValue,
} from "./sql-program.ts";

const maxRowsPerRead = 500;

export class SqlAuditStore implements AuditStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  append(entry: AuditEntry): Promise<StoredAuditRecord> {
    return this.#database.groupCommit(() => appendAudit(this.#database, entry, this.#clock()));
  }

  async list({ since, identity, action, limit, cursor }: AuditQuery): Promise<AuditPage> {
    const candidates: [string, SqlValue | undefined][] = [
      ["number < ?", cursor],
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
    const rows = await this.#database.read(() => queryRows(sql, ...values, limit + 1));
    const records = rows.slice(0, limit).map((row) => this.#parseRow(row));
    return { records, next: rows.length > limit ? (records.at(-1)?.number ?? null) : null };
  }

  head(): Promise<AuditHead> {
    return this.#database.read(function* () {
      return toHead(yield* queryRow(selectHead));
    });
  }

  async readRowsFrom(number: number): Promise<AuditRow[]> {
    const sql =
      "SELECT number, record, hash FROM audit_log WHERE number >= ? ORDER BY number LIMIT ?";
    const rows = await this.#database.read(() => queryRows(sql, number, maxRowsPerRead));
    return rows.map((row) => ({
      number: Number(row.number),
      record: String(row.record),
      hash: String(row.hash),
    }));
  }

  #parseRow(row: SqlRow): StoredAuditRecord {
    try {
      return readRecord(this.#database, storedAuditRecordSchema, row, { hash: row.hash });
    } catch (cause) {
      const message = `record ${row.id} of the audit log in ${this.#database.name} cannot be read`;
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
