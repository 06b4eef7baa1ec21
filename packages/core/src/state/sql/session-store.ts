import type { SessionStore } from "../contract.ts";
import type { Place } from "../job.ts";
import type { Liveness } from "../lease.ts";
import type { LeaseAnswer, LeaseHolder, Session, SessionInfo } from "../session.ts";
import {
  findSession,
  latestSession,
  leaseSession,
  readSession,
  releaseSession,
  saveSession,
} from "./session-records.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, type Steps } from "./steps.ts";

export class SqlSessionStore implements SessionStore {
  readonly #database: SqlDatabase;
  readonly #clock: () => Date;
  readonly #liveness: Liveness;

  constructor(database: SqlDatabase, clock: () => Date, liveness: Liveness) {
    this.#database = database;
    this.#clock = clock;
    this.#liveness = liveness;
  }

  async save(info: SessionInfo): Promise<Session> {
    return this.#database.transaction(() => saveSession(this.#database, info, this.#clock()));
  }

  async get(sessionId: string): Promise<Session | undefined> {
    return this.#database.read(() => findSession(this.#database, sessionId));
  }

  async latest(
    agent: string,
    place: Place,
    ownOf: string | null = null,
  ): Promise<Session | undefined> {
    return this.#database.read(() => latestSession(this.#database, agent, place, ownOf));
  }

  async list(query: { agent?: string } = {}): Promise<Session[]> {
    return this.#database.read(() => this.#list(query));
  }

  async lease(sessionId: string, holder: LeaseHolder, until: Date): Promise<LeaseAnswer> {
    const terms = { sessionId, holder, until };
    return this.#database.transaction(() =>
      leaseSession(this.#database, terms, this.#clock(), this.#liveness),
    );
  }

  async release(sessionId: string, holder: LeaseHolder): Promise<boolean> {
    return this.#database.transaction(() => releaseSession(this.#database, sessionId, holder));
  }

  *#list({ agent }: { agent?: string }): Steps<Session[]> {
    const where = agent === undefined ? "" : "WHERE agent = ?";
    const sql = `SELECT session_id, record FROM sessions ${where} ORDER BY last_used_at DESC, rowid DESC`;
    const rows = yield* all(sql, ...(agent === undefined ? [] : [agent]));
    return rows.map((row) => readSession(this.#database, row));
  }
}
