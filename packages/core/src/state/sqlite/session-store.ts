import type { SessionStore } from "../contract.ts";
import type { Place } from "../job.ts";
import { decideLease, isSameHolder } from "../lease.ts";
import type { ProcessIdentity } from "../process-identity.ts";
import {
  type Lease,
  type LeaseAnswer,
  type LeaseHolder,
  leaseHolderSchema,
  type Session,
  type SessionInfo,
  sessionInfoSchema,
  sessionSchema,
} from "../session.ts";
import type { Database, Row } from "./database.ts";
import { readRecord } from "./record.ts";

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
    const given = sessionInfoSchema.parse(info);
    return this.#database.transaction(() => {
      const now = this.#clock().toISOString();
      const before = this.#get(given.session_id) ?? { ...unused, created_at: now };
      const session = sessionSchema.parse({ ...before, ...given, last_used_at: now });
      this.#database.run(
        `INSERT INTO sessions (session_id, record) VALUES (?, ?)
         ON CONFLICT (session_id) DO UPDATE SET record = excluded.record`,
        session.session_id,
        JSON.stringify(session),
      );
      return session;
    });
  }

  async get(sessionId: string): Promise<Session | undefined> {
    return this.#get(sessionId);
  }

  async latest(agent: string, place: Place): Promise<Session | undefined> {
    const sql = `SELECT session_id, record FROM sessions WHERE agent = ? AND place = ?
                   AND NOT (record ->> '$.in_chat')
                 ORDER BY last_used_at DESC, rowid DESC LIMIT 1`;
    const row = this.#database.get(sql, agent, place);
    return row && this.#read(row);
  }

  async list(query: { agent?: string } = {}): Promise<Session[]> {
    const where = query.agent === undefined ? "" : "WHERE agent = ?";
    const sql = `SELECT session_id, record FROM sessions ${where} ORDER BY last_used_at DESC, rowid DESC`;
    const rows =
      query.agent === undefined ? this.#database.all(sql) : this.#database.all(sql, query.agent);
    return rows.map((row) => this.#read(row));
  }

  async lease(sessionId: string, holder: LeaseHolder, until: Date): Promise<LeaseAnswer> {
    return this.#database.transaction(() => {
      const current = this.#lease(sessionId);
      const answer = decideLease(current, holder, this.#clock(), this.#isAlive);
      if (!answer.granted) return answer;
      this.#database.run(
        "INSERT OR REPLACE INTO session_leases (session_id, holder, until) VALUES (?, ?, ?)",
        sessionId,
        JSON.stringify(leaseHolderSchema.parse(holder)),
        until.toISOString(),
      );
      return answer;
    });
  }

  async release(sessionId: string, holder: LeaseHolder): Promise<boolean> {
    return this.#database.transaction(() => {
      const current = this.#lease(sessionId);
      if (current === undefined || !isSameHolder(current.holder, holder)) return false;
      this.#database.run("DELETE FROM session_leases WHERE session_id = ?", sessionId);
      return true;
    });
  }

  #lease(sessionId: string): Lease | undefined {
    const sql =
      "SELECT session_id, holder AS record, until FROM session_leases WHERE session_id = ?";
    const row = this.#database.get(sql, sessionId);
    if (!row) return undefined;
    const holder = readRecord(this.#database, leaseHolderSchema, row);
    return { holder, until: String(row.until) };
  }

  #get(sessionId: string): Session | undefined {
    const sql = "SELECT session_id, record FROM sessions WHERE session_id = ?";
    const row = this.#database.get(sql, sessionId);
    return row && this.#read(row);
  }

  #read(row: Row): Session {
    return readRecord(this.#database, sessionSchema, row);
  }
}

const unused = {
  config_dir: null,
  expires_at: null,
  job_id: null,
  in_chat: false,
  cost_total_usd: 0,
  usage_total: null,
  turns: 0,
} satisfies Partial<Session>;
