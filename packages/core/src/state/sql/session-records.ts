import type { Place } from "../job.ts";
import type { LeaseTerms } from "../job-store.ts";
import { decideLease, isSameHolder, type Liveness } from "../lease.ts";
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
import { readRecord } from "./record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { one, type Row, run, type Steps } from "./steps.ts";

/*
 * What is done to sessions and their leases within a transaction, be it one of their own or the one
 * that begins or ends an attempt.
 */

export function* saveSession(database: SqlDatabase, info: SessionInfo, now: Date): Steps<Session> {
  const given = sessionInfoSchema.parse(info);
  const time = now.toISOString();
  const before = (yield* findSession(database, given.session_id)) ?? {
    ...unused,
    created_at: time,
  };
  const session = sessionSchema.parse({ ...before, ...given, last_used_at: time });
  yield* run(
    `INSERT INTO sessions (session_id, record) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET record = excluded.record`,
    session.session_id,
    JSON.stringify(session),
  );
  return session;
}

export function* findSession(database: SqlDatabase, sessionId: string): Steps<Session | undefined> {
  const sql = "SELECT session_id, record FROM sessions WHERE session_id = ?";
  const row = yield* one(sql, sessionId);
  return row && readSession(database, row);
}

export function* latestSession(
  database: SqlDatabase,
  agent: string,
  place: Place,
  ownOf: string | null,
): Steps<Session | undefined> {
  const sql = `SELECT session_id, record FROM sessions
               WHERE agent = ? AND place = ? AND schedule IS NOT DISTINCT FROM ?
                 AND in_chat = 0
               ORDER BY last_used_at DESC, rowid DESC LIMIT 1`;
  const row = yield* one(sql, agent, place, ownOf);
  return row && readSession(database, row);
}

export function readSession(database: SqlDatabase, row: Row): Session {
  return readRecord(database, sessionSchema, row);
}

export function* leaseSession(
  database: SqlDatabase,
  { sessionId, holder, until, from }: LeaseTerms,
  now: Date,
  liveness: Liveness,
): Steps<LeaseAnswer> {
  if (from) yield* releaseSession(database, sessionId, from);
  const current = yield* readLease(database, sessionId);
  const answer = decideLease(current, holder, now, liveness);
  if (!answer.granted) return answer;
  yield* run(
    `INSERT INTO session_leases (session_id, holder, until) VALUES (?, ?, ?)
     ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder, until = excluded.until`,
    sessionId,
    JSON.stringify(leaseHolderSchema.parse(holder)),
    until.toISOString(),
  );
  return answer;
}

export function* releaseSession(
  database: SqlDatabase,
  sessionId: string,
  holder: LeaseHolder,
): Steps<boolean> {
  const current = yield* readLease(database, sessionId);
  if (current === undefined || !isSameHolder(current.holder, holder)) return false;
  yield* run("DELETE FROM session_leases WHERE session_id = ?", sessionId);
  return true;
}

function* readLease(database: SqlDatabase, sessionId: string): Steps<Lease | undefined> {
  const sql = "SELECT session_id, holder AS record, until FROM session_leases WHERE session_id = ?";
  const row = yield* one(sql, sessionId);
  if (!row) return undefined;
  return { holder: readRecord(database, leaseHolderSchema, row), until: String(row.until) };
}

const unused = {
  config_dir: null,
  expires_at: null,
  job_id: null,
  node: null,
  schedule: null,
  in_chat: false,
  cost_total_usd: 0,
  usage_total: null,
  turns: 0,
} satisfies Partial<Session>;
