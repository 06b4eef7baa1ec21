import type {
  Session,
  SessionHomeKind,
  SessionInfo,
  SessionLeaseHolder,
  SessionLeaseResult,
} from "@herdctl/protocol";
import type { SessionStore } from "../contracts/stores.ts";
import type { Liveness } from "../model/session-lease.ts";
import {
  findSession,
  latestSession,
  leaseSession,
  readSession,
  releaseSession,
  saveSession,
} from "./session-records.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { queryRows, type SqlProgram } from "./sql-program.ts";

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

  async findLatest(
    agent: string,
    sessionHome: SessionHomeKind,
    ownerSchedule: string | null = null,
  ): Promise<Session | undefined> {
    return this.#database.read(() =>
      latestSession(this.#database, agent, sessionHome, ownerSchedule),
    );
  }

  async list(query: { agent?: string } = {}): Promise<Session[]> {
    return this.#database.read(() => this.#selectSessions(query));
  }

  async lease(
    sessionId: string,
    holder: SessionLeaseHolder,
    until: Date,
  ): Promise<SessionLeaseResult> {
    const terms = { sessionId, holder, until };
    return this.#database.transaction(() =>
      leaseSession(this.#database, terms, this.#clock(), this.#liveness),
    );
  }

  async release(sessionId: string, holder: SessionLeaseHolder): Promise<boolean> {
    return this.#database.transaction(() => releaseSession(this.#database, sessionId, holder));
  }

  *#selectSessions({ agent }: { agent?: string }): SqlProgram<Session[]> {
    const where = agent === undefined ? "" : "WHERE agent = ?";
    const sql = `SELECT session_id, record FROM sessions ${where} ORDER BY last_used_at DESC, rowid DESC`;
    const rows = yield* queryRows(sql, ...(agent === undefined ? [] : [agent]));
    return rows.map((row) => readSession(this.#database, row));
  }
}
