import type { LeaseTerms } from "../contract.ts";
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

/*
 * What is done to sessions and their leases within a transaction, be it one of their own or the one
 * that begins or ends an attempt.
 */

export function saveSession(database: Database, info: SessionInfo, now: Date): Session {
  const given = sessionInfoSchema.parse(info);
  const time = now.toISOString();
  const before = findSession(database, given.session_id) ?? { ...unused, created_at: time };
  const session = sessionSchema.parse({ ...before, ...given, last_used_at: time });
  database.run(
    `INSERT INTO sessions (session_id, record) VALUES (?, ?)
     ON CONFLICT (session_id) DO UPDATE SET record = excluded.record`,
    session.session_id,
    JSON.stringify(session),
  );
  return session;
}

export function findSession(database: Database, sessionId: string): Session | undefined {
  const sql = "SELECT session_id, record FROM sessions WHERE session_id = ?";
  const row = database.get(sql, sessionId);
  return row && readSession(database, row);
}

export function readSession(database: Database, row: Row): Session {
  return readRecord(database, sessionSchema, row);
}

export function leaseSession(
  database: Database,
  { sessionId, holder, until, from }: LeaseTerms,
  now: Date,
  isAlive: (process: ProcessIdentity) => boolean,
): LeaseAnswer {
  if (from) releaseSession(database, sessionId, from);
  const answer = decideLease(readLease(database, sessionId), holder, now, isAlive);
  if (!answer.granted) return answer;
  database.run(
    "INSERT OR REPLACE INTO session_leases (session_id, holder, until) VALUES (?, ?, ?)",
    sessionId,
    JSON.stringify(leaseHolderSchema.parse(holder)),
    until.toISOString(),
  );
  return answer;
}

export function releaseSession(
  database: Database,
  sessionId: string,
  holder: LeaseHolder,
): boolean {
  const current = readLease(database, sessionId);
  if (current === undefined || !isSameHolder(current.holder, holder)) return false;
  database.run("DELETE FROM session_leases WHERE session_id = ?", sessionId);
  return true;
}

function readLease(database: Database, sessionId: string): Lease | undefined {
  const sql = "SELECT session_id, holder AS record, until FROM session_leases WHERE session_id = ?";
  const row = database.get(sql, sessionId);
  if (!row) return undefined;
  return { holder: readRecord(database, leaseHolderSchema, row), until: String(row.until) };
}

const unused = {
  config_dir: null,
  expires_at: null,
  job_id: null,
  schedule: null,
  in_chat: false,
  cost_total_usd: 0,
  usage_total: null,
  turns: 0,
} satisfies Partial<Session>;
