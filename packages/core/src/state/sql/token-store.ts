import { timingSafeEqual } from "node:crypto";
import { UserError } from "../../errors/user-error.ts";
import { type AccessToken, accessTokenSchema, type TokenStore } from "../access-token.ts";
import type { AuditEntry } from "../audit.ts";
import { appendAudit } from "./audit-store.ts";
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, one, type Row, run } from "./steps.ts";

const columns = "name AS id, hash, record, last_used_at";

export class SqlTokenStore implements TokenStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  create(given: AccessToken, hash: string, audit: AuditEntry): Promise<AccessToken> {
    const token = accessTokenSchema.parse(given);
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const sql =
        "INSERT INTO access_tokens (name, record, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
      const isNew = (yield* run(sql, token.name, JSON.stringify(token), hash)) > 0;
      if (!isNew) {
        throw new UserError("token_exists", `there is a token \`${token.name}\` already`);
      }
      yield* appendAudit(database, audit, now);
      return token;
    });
  }

  async find(hash: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE hash = ?`;
    const row = await this.#database.read(() => one(sql, hash));
    const isSame = row && timingSafeEqual(Buffer.from(String(row.hash)), Buffer.from(hash));
    return isSame ? this.#read(row) : undefined;
  }

  async get(name: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE name = ?`;
    const row = await this.#database.read(() => one(sql, name));
    return row && this.#read(row);
  }

  async list(): Promise<AccessToken[]> {
    const sql = `SELECT ${columns} FROM access_tokens ORDER BY name`;
    const rows = await this.#database.read(() => all(sql));
    return rows.map((row) => this.#read(row));
  }

  revoke(name: string, audit: AuditEntry): Promise<boolean> {
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const count = yield* run("DELETE FROM access_tokens WHERE name = ?", name);
      if (count > 0) yield* appendAudit(database, audit, now);
      return count > 0;
    });
  }

  async used(name: string, at: Date): Promise<void> {
    const sql = "UPDATE access_tokens SET last_used_at = ? WHERE name = ?";
    await this.#database.together(() => run(sql, at.toISOString(), name));
  }

  #read(row: Row): AccessToken {
    const last_used_at = row.last_used_at ?? null;
    return readRecord(this.#database, accessTokenSchema, row, { last_used_at });
  }
}
