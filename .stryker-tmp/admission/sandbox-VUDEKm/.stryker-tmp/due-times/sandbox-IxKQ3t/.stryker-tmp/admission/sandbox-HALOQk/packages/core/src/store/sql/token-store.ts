import { timingSafeEqual } from "node:crypto";
import { type AccessToken, type AuditEntry, UserError } from "@herdctl/protocol";
import { accessTokenSchema } from "@herdctl/protocol/schemas";
import type { TokenStore } from "../contracts/token-store.ts";
import { appendAudit } from "./audit-store.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlRow } from "./sql-program.ts";

const columns = "name AS id, hash, record, last_used_at";

export class SqlTokenStore implements TokenStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;

  constructor(database: SqlDatabase, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  create(newToken: AccessToken, hash: string, audit: AuditEntry): Promise<AccessToken> {
    const token = accessTokenSchema.parse(newToken);
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const sql =
        "INSERT INTO access_tokens (name, record, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
      const isNew = (yield* execute(sql, token.name, JSON.stringify(token), hash)) > 0;
      if (!isNew) {
        throw new UserError("token_exists", `the token \`${token.name}\` already exists`);
      }
      yield* appendAudit(database, audit, now);
      return token;
    });
  }

  async findByHash(hash: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE hash = ?`;
    const row = await this.#database.read(() => queryRow(sql, hash));
    const isSame = row && timingSafeEqual(Buffer.from(String(row.hash)), Buffer.from(hash));
    return isSame ? this.#parseRow(row) : undefined;
  }

  async get(name: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE name = ?`;
    const row = await this.#database.read(() => queryRow(sql, name));
    return row && this.#parseRow(row);
  }

  async list(): Promise<AccessToken[]> {
    const sql = `SELECT ${columns} FROM access_tokens ORDER BY name`;
    const rows = await this.#database.read(() => queryRows(sql));
    return rows.map((row) => this.#parseRow(row));
  }

  revoke(name: string, audit: AuditEntry): Promise<boolean> {
    const [database, now] = [this.#database, this.#clock()];
    return database.transaction(function* () {
      const count = yield* execute("DELETE FROM access_tokens WHERE name = ?", name);
      if (count > 0) yield* appendAudit(database, audit, now);
      return count > 0;
    });
  }

  async recordUse(name: string, at: Date): Promise<void> {
    const sql = "UPDATE access_tokens SET last_used_at = ? WHERE name = ?";
    await this.#database.groupCommit(() => execute(sql, at.toISOString(), name));
  }

  #parseRow(row: SqlRow): AccessToken {
    const last_used_at = row.last_used_at ?? null;
    return readRecord(this.#database, accessTokenSchema, row, { last_used_at });
  }
}
