import type { AuditEntry } from "../audit.ts";
import { type Login, type LoginStore, loginSchema } from "../login.ts";
import { appendAudit } from "./audit-store.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, run } from "./steps.ts";

export class SqlLoginStore implements LoginStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  create(given: Login, audit: AuditEntry): Promise<Login> {
    const login = loginSchema.parse(given);
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      yield* run("DELETE FROM logins WHERE expires_at <= ?", now.toISOString());
      const sql = "INSERT INTO logins (id, record) VALUES (?, ?)";
      yield* run(sql, login.id, JSON.stringify(login));
      yield* appendAudit(database, audit, now);
      return login;
    });
  }

  async get(id: string): Promise<Login | undefined> {
    const sql = "SELECT id, record FROM logins WHERE id = ?";
    const row = await this.#database.read(() => one(sql, id));
    return row && readRecord(this.#database, loginSchema, row);
  }

  async list(): Promise<Login[]> {
    const now = this.#clock().toISOString();
    const sql = "SELECT id, record FROM logins WHERE expires_at > ? ORDER BY signed_in_at DESC, id";
    const rows = await this.#database.read(() => all(sql, now));
    return rows.map((row) => readRecord(this.#database, loginSchema, row));
  }

  end(id: string, audit: AuditEntry): Promise<number> {
    return this.#end("DELETE FROM logins WHERE id LIKE ?", [`${id}%`], audit);
  }

  endAll(audit: AuditEntry): Promise<number> {
    return this.#end("DELETE FROM logins", [], audit);
  }

  /** Recorded also when nobody was signed in: someone wanted to be sure. */
  #end(sql: string, values: string[], audit: AuditEntry): Promise<number> {
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const count = yield* run(sql, ...values);
      const details = { ...audit.details, logins: count };
      yield* appendAudit(database, { ...audit, details }, now);
      return count;
    });
  }
}
