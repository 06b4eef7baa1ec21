import type { SessionStore } from "../contract.ts";
import type { Place } from "../job.ts";
import type { ProcessIdentity } from "../process-identity.ts";
import type { LeaseAnswer, LeaseHolder, Session, SessionInfo } from "../session.ts";
import type { Database } from "./database.ts";
import {
  findSession,
  leaseSession,
  readSession,
  releaseSession,
  saveSession,
} from "./session-records.ts";

export class SqliteSessionStore implements SessionStore {
  readonly #database: Database;
  readonly #clock: () => Date;
  readonly #isAlive: (process: ProcessIdentity) => boolean;

  constructor(
    database: Database,
    clock: () => Date,
    isAlive: (process: ProcessIdentity) => boolean,
  ) {
    this.#database = database;
    this.#clock = clock;
    this.#isAlive = isAlive;
  }

  async save(info: SessionInfo): Promise<Session> {
    return this.#database.transaction(() => saveSession(this.#database, info, this.#clock()));
  }

  async get(sessionId: string): Promise<Session | undefined> {
    return findSession(this.#database, sessionId);
  }

  async latest(
    agent: string,
    place: Place,
    ownOf: string | null = null,
  ): Promise<Session | undefined> {
    const sql = `SELECT session_id, record FROM sessions
                 WHERE agent = ? AND place = ? AND record ->> '$.schedule' IS ?
                   AND NOT (record ->> '$.in_chat')
                 ORDER BY last_used_at DESC, rowid DESC LIMIT 1`;
    const row = this.#database.get(sql, agent, place, ownOf);
    return row && readSession(this.#database, row);
  }

  async list(query: { agent?: string } = {}): Promise<Session[]> {
    const where = query.agent === undefined ? "" : "WHERE agent = ?";
    const sql = `SELECT session_id, record FROM sessions ${where} ORDER BY last_used_at DESC, rowid DESC`;
    const rows =
      query.agent === undefined ? this.#database.all(sql) : this.#database.all(sql, query.agent);
    return rows.map((row) => readSession(this.#database, row));
  }

  async lease(sessionId: string, holder: LeaseHolder, until: Date): Promise<LeaseAnswer> {
    const terms = { sessionId, holder, until };
    return this.#database.transaction(() =>
      leaseSession(this.#database, terms, this.#clock(), this.#isAlive),
    );
  }

  async release(sessionId: string, holder: LeaseHolder): Promise<boolean> {
    return this.#database.transaction(() => releaseSession(this.#database, sessionId, holder));
  }
}
