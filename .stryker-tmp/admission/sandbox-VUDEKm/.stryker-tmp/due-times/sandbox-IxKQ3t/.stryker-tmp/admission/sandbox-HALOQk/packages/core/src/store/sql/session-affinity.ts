import type { Job, Session } from "@herdctl/protocol";
import { isExpired } from "@herdctl/protocol/schemas";
import type { AffinityQuery } from "../model/assignment.ts";
import type { JobRecords } from "./job-records.ts";
import { latestSession, readSession } from "./session-records.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { queryRows, type SqlProgram } from "./sql-program.ts";

/**
 * The node that ran the last attempt of each job, or that has the session it will resume. Uses few
 * statements for any number of jobs, because all other writers wait meanwhile.
 */
export function* readSessionAffinity(
  database: SqlDatabase,
  records: JobRecords,
  queries: readonly AffinityQuery[],
  now: Date,
): SqlProgram<Map<string, string | null>> {
  const ids = queries.map(({ id }) => id);
  const jobs = yield* records.select(`WHERE id IN (${placeholders(ids)})`, ...ids);
  const namedSessions = yield* readNamedSessions(database, jobs);
  const last = yield* readLatestSessions(database, jobs, queries);
  return new Map(
    queries.map(({ id }) => {
      const job = jobs.find((candidate) => candidate.id === id);
      return [id, job ? affinityNodeOf(job, namedSessions, last.get(id), now) : null];
    }),
  );
}

function affinityNodeOf(
  job: Job,
  namedSessions: ReadonlyMap<string, Session>,
  last: Session | undefined,
  now: Date,
): string | null {
  // An attempt without a session left nothing behind.
  if (job.node !== null && job.session_id !== null) return job.node;
  const name = namedSessionId(job);
  if (name !== null) return namedSessions.get(name)?.node ?? null;
  return last && !isExpired(last, now) ? last.node : null;
}

function namedSessionId({ resumed_from, forked_from }: Job): string | null {
  return resumed_from ?? forked_from;
}

function* readNamedSessions(
  database: SqlDatabase,
  jobs: readonly Job[],
): SqlProgram<Map<string, Session>> {
  const names = [...new Set(jobs.map(namedSessionId).filter((name) => name !== null))];
  if (names.length === 0) return new Map();
  const sql = `SELECT session_id, record FROM sessions WHERE session_id IN (${placeholders(names)})`;
  const found = (yield* queryRows(sql, ...names)).map((row) => readSession(database, row));
  return new Map(found.map((session) => [session.session_id, session]));
}

/** Jobs of an agent usually resume the same session, so each query runs once. */
function* readLatestSessions(
  database: SqlDatabase,
  jobs: readonly Job[],
  queries: readonly AffinityQuery[],
): SqlProgram<Map<string, Session>> {
  const known = new Map<string, Session | undefined>();
  const latest = new Map<string, Session>();
  for (const { id, latestSession: query } of queries) {
    const job = jobs.find((candidate) => candidate.id === id);
    // A chat conversation never resumes the session of another room.
    if (!job || !query || job.trigger_type === "chat") continue;
    const key = JSON.stringify([job.agent, query]);
    if (!known.has(key))
      known.set(
        key,
        yield* latestSession(database, job.agent, query.sessionHome, query.ownerSchedule),
      );
    const found = known.get(key);
    if (found) latest.set(id, found);
  }
  return latest;
}

function placeholders(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
