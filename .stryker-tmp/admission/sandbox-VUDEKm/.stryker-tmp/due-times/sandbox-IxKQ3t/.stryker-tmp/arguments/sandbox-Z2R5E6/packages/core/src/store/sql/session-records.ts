import type {
  Session,
  SessionHomeKind,
  SessionInfo,
  SessionLease,
  SessionLeaseHolder,
  SessionLeaseResult,
} from "@herdctl/protocol";
import { leaseHolderSchema, sessionInfoSchema, sessionSchema } from "@herdctl/protocol/schemas";
import type { LeaseTerms } from "../contracts/job-store.ts";
import { decideLease, isSameHolder, type Liveness } from "../model/session-lease.ts";
import { readRecord } from "./read-record.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { execute, queryRow, type SqlProgram, type SqlRow } from "./sql-program.ts";

/*
 * Changes to sessions and their leases within a transaction, either a separate one or the one that
 * starts or ends an attempt.
 */

export function* saveSession(
  database: SqlDatabase,
  info: SessionInfo,
  now: Date,
): SqlProgram<Session> {
  const sessionInfo = sessionInfoSchema.parse(info);
  const time = now.toISOString();
  const existing = (yield* findSession(database, sessionInfo.session_id)) ?? {
    ...emptySession,
    created_at: time,
  };
  const session = sessionSchema.parse({ ...existing, ...sessionInfo, last_used_at: time });
  yield* execute(
    `INSERT INTO sessions (session_id, record) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET record = excluded.record`,
    session.session_id,
    JSON.stringify(session),
  );
  return session;
}

export function* findSession(
  database: SqlDatabase,
  sessionId: string,
): SqlProgram<Session | undefined> {
  const sql = "SELECT session_id, record FROM sessions WHERE session_id = ?";
  const row = yield* queryRow(sql, sessionId);
  return row && readSession(database, row);
}

export function* latestSession(
  database: SqlDatabase,
  agent: string,
  sessionHome: SessionHomeKind,
  ownerSchedule: string | null,
): SqlProgram<Session | undefined> {
  const sql = `SELECT session_id, record FROM sessions
               WHERE agent = ? AND session_home = ? AND schedule IS NOT DISTINCT FROM ?
                 AND in_chat = 0
               ORDER BY last_used_at DESC, rowid DESC LIMIT 1`;
  const row = yield* queryRow(sql, agent, sessionHome, ownerSchedule);
  return row && readSession(database, row);
}

export function readSession(database: SqlDatabase, row: SqlRow): Session {
  return readRecord(database, sessionSchema, row);
}

export function* leaseSession(
  database: SqlDatabase,
  { sessionId, holder, until, previousHolder }: LeaseTerms,
  now: Date,
  liveness: Liveness,
): SqlProgram<SessionLeaseResult> {
  if (previousHolder) yield* releaseSession(database, sessionId, previousHolder);
  const current = yield* readLease(database, sessionId);
  const result = decideLease(current, holder, now, liveness);
  if (!result.granted) return result;
  yield* execute(
    `INSERT INTO session_leases (session_id, holder, until) VALUES (?, ?, ?)
     ON CONFLICT (session_id) DO UPDATE SET holder = excluded.holder, until = excluded.until`,
    sessionId,
    JSON.stringify(leaseHolderSchema.parse(holder)),
    until.toISOString(),
  );
  return result;
}

export function* releaseSession(
  database: SqlDatabase,
  sessionId: string,
  holder: SessionLeaseHolder,
): SqlProgram<boolean> {
  const current = yield* readLease(database, sessionId);
  if (current === undefined || !isSameHolder(current.holder, holder)) return false;
  yield* execute("DELETE FROM session_leases WHERE session_id = ?", sessionId);
  return true;
}

function* readLease(
  database: SqlDatabase,
  sessionId: string,
): SqlProgram<SessionLease | undefined> {
  const sql = "SELECT session_id, holder AS record, until FROM session_leases WHERE session_id = ?";
  const row = yield* queryRow(sql, sessionId);
  if (!row) return undefined;
  return { holder: readRecord(database, leaseHolderSchema, row), until: String(row.until) };
}

const emptySession = {
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
