import type { AuditEntry, Login } from "@herdctl/protocol";
import { loginSchema } from "@herdctl/protocol/schemas";
import type { LoginStore } from "../contracts/login-store.ts";
import { appendAudit } from "./audit-store.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows } from "./sql-program.ts";

export class SqlLoginStore implements LoginStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  create(newLogin: Login, audit: AuditEntry): Promise<Login> {
    const login = loginSchema.parse(newLogin);
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      yield* execute("DELETE FROM logins WHERE expires_at <= ?", now.toISOString());
      const sql = "INSERT INTO logins (id, record) VALUES (?, ?)";
      yield* execute(sql, login.id, JSON.stringify(login));
      yield* appendAudit(database, audit, now);
      return login;
    });
  }

  async get(id: string): Promise<Login | undefined> {
    const sql = "SELECT id, record FROM logins WHERE id = ?";
    const row = await this.#database.read(() => queryRow(sql, id));
    return row && readRecord(this.#database, loginSchema, row);
  }

  async list(): Promise<Login[]> {
    const now = this.#clock().toISOString();
    const sql = "SELECT id, record FROM logins WHERE expires_at > ? ORDER BY signed_in_at DESC, id";
    const rows = await this.#database.read(() => queryRows(sql, now));
    return rows.map((row) => readRecord(this.#database, loginSchema, row));
  }

  revoke(id: string, audit: AuditEntry): Promise<number> {
    return this.#deleteWithAudit("DELETE FROM logins WHERE id LIKE ?", [`${id}%`], audit);
  }

  revokeAll(audit: AuditEntry): Promise<number> {
    return this.#deleteWithAudit("DELETE FROM logins", [], audit);
  }

  /** Also recorded if there was no login, because the request itself matters. */
  #deleteWithAudit(sql: string, values: string[], audit: AuditEntry): Promise<number> {
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const count = yield* execute(sql, ...values);
      const details = { ...audit.details, logins: count };
      yield* appendAudit(database, { ...audit, details }, now);
      return count;
    });
  }
}
