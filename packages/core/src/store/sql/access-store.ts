import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { type AccessToken, type AuditEntry, type Login, UserError } from "@herdctl/protocol";
import { accessTokenSchema, loginSchema, tokenPrefix } from "@herdctl/protocol/schemas";
import { appendAudit } from "./audit-store.ts";
import { execute, queryRow, queryRows, readRecord, type SqlRow, SqlStore } from "./sql-program.ts";

const columns = "name AS id, hash, record, last_used_at";

/** Every change is one transaction with its audit record. */
export class TokenStore extends SqlStore {
  create(newToken: AccessToken, hash: string, audit: AuditEntry): Promise<AccessToken> {
    const token = accessTokenSchema.parse(newToken);
    const [database, now] = [this.database, this.clock()];
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

  /** Finds a token by the hash of its secret; also an expired one. */
  async findByHash(hash: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE hash = ?`;
    const row = await this.database.read(() => queryRow(sql, hash));
    const isSame = row && timingSafeEqual(Buffer.from(String(row.hash)), Buffer.from(hash));
    return isSame ? this.#parseRow(row) : undefined;
  }

  async get(name: string): Promise<AccessToken | undefined> {
    const sql = `SELECT ${columns} FROM access_tokens WHERE name = ?`;
    const row = await this.database.read(() => queryRow(sql, name));
    return row && this.#parseRow(row);
  }

  /** Sorted by name. */
  async list(): Promise<AccessToken[]> {
    const sql = `SELECT ${columns} FROM access_tokens ORDER BY name`;
    const rows = await this.database.read(() => queryRows(sql));
    return rows.map((row) => this.#parseRow(row));
  }

  /** False if there is no such token. */
  revoke(name: string, audit: AuditEntry): Promise<boolean> {
    const [database, now] = [this.database, this.clock()];
    return database.transaction(function* () {
      const count = yield* execute("DELETE FROM access_tokens WHERE name = ?", name);
      if (count > 0) yield* appendAudit(database, audit, now);
      return count > 0;
    });
  }

  async recordUse(name: string, at: Date): Promise<void> {
    const sql = "UPDATE access_tokens SET last_used_at = ? WHERE name = ?";
    await this.database.groupCommit(() => execute(sql, at.toISOString(), name));
  }

  #parseRow(row: SqlRow): AccessToken {
    const last_used_at = row.last_used_at ?? null;
    return readRecord(this.database, accessTokenSchema, row, { last_used_at });
  }
}

/** Every change is one transaction with its audit record. */
export class LoginStore extends SqlStore {
  create(newLogin: Login, audit: AuditEntry): Promise<Login> {
    const login = loginSchema.parse(newLogin);
    const [database, now] = [this.database, this.clock()];
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
    const row = await this.database.read(() => queryRow(sql, id));
    return row && readRecord(this.database, loginSchema, row);
  }

  /** Newest first, without expired ones. */
  async list(): Promise<Login[]> {
    const now = this.clock().toISOString();
    const sql = "SELECT id, record FROM logins WHERE expires_at > ? ORDER BY signed_in_at DESC, id";
    const rows = await this.database.read(() => queryRows(sql, now));
    return rows.map((row) => readRecord(this.database, loginSchema, row));
  }

  /**
   * Ends logins by id, or by the start of the id that `login:` identities show. Resolves with their
   * number.
   */
  revoke(id: string, audit: AuditEntry): Promise<number> {
    return this.#deleteWithAudit("DELETE FROM logins WHERE id LIKE ?", [`${id}%`], audit);
  }

  revokeAll(audit: AuditEntry): Promise<number> {
    return this.#deleteWithAudit("DELETE FROM logins", [], audit);
  }

  /** Also recorded if there was no login, because the request itself matters. */
  #deleteWithAudit(sql: string, values: string[], audit: AuditEntry): Promise<number> {
    const [database, now] = [this.database, this.clock()];
    return database.transaction(function* () {
      const count = yield* execute(sql, ...values);
      const details = { ...audit.details, logins: count };
      yield* appendAudit(database, { ...audit, details }, now);
      return count;
    });
  }
}

export function newTokenSecret(): string {
  return tokenPrefix + randomBytes(32).toString("base64url");
}

/** A plain hash is enough: a secret of 256 random bits cannot be guessed. */
export function hashToken(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
