import type { HomeWish } from "../hand-out.ts";
import type { Job } from "../job.ts";
import { isExpired, type Session } from "../session.ts";
import type { JobRecords } from "./job-records.ts";
import { latestSession, readSession } from "./session-records.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { all, type Steps } from "./steps.ts";

/**
 * Where the last attempt of each job ran, or where the session lies that it goes on with. With few
 * statements, however many are asked about: all other writers wait meanwhile.
 */
export function* readHomes(
  database: SqlDatabase,
  records: JobRecords,
  wishes: readonly HomeWish[],
  now: Date,
): Steps<Map<string, string | null>> {
  const ids = wishes.map(({ id }) => id);
  const jobs = yield* records.select(`WHERE id IN (${places(ids)})`, ...ids);
  const named = yield* readNamed(database, jobs);
  const last = yield* readLatest(database, jobs, wishes);
  return new Map(
    wishes.map(({ id }) => {
      const job = jobs.find((one) => one.id === id);
      return [id, job ? homeOf(job, named, last.get(id), now) : null];
    }),
  );
}

function homeOf(
  job: Job,
  named: ReadonlyMap<string, Session>,
  last: Session | undefined,
  now: Date,
): string | null {
  // An attempt that came to no session has left nothing behind.
  if (job.node !== null && job.session_id !== null) return job.node;
  const name = nameOf(job);
  if (name !== null) return named.get(name)?.node ?? null;
  return last && !isExpired(last, now) ? last.node : null;
}

function nameOf({ resumed_from, forked_from }: Job): string | null {
  return resumed_from ?? forked_from;
}

function* readNamed(database: SqlDatabase, jobs: readonly Job[]): Steps<Map<string, Session>> {
  const names = [...new Set(jobs.map(nameOf).filter((name) => name !== null))];
  if (names.length === 0) return new Map();
  const sql = `SELECT session_id, record FROM sessions WHERE session_id IN (${places(names)})`;
  const found = (yield* all(sql, ...names)).map((row) => readSession(database, row));
  return new Map(found.map((session) => [session.session_id, session]));
}

/** Jobs of an agent mostly go on in the same one. */
function* readLatest(
  database: SqlDatabase,
  jobs: readonly Job[],
  wishes: readonly HomeWish[],
): Steps<Map<string, Session>> {
  const known = new Map<string, Session | undefined>();
  const latest = new Map<string, Session>();
  for (const { id, latest: wish } of wishes) {
    const job = jobs.find((one) => one.id === id);
    // What was said in another room does not come up in a conversation.
    if (!job || !wish || job.trigger_type === "chat") continue;
    const key = JSON.stringify([job.agent, wish]);
    if (!known.has(key))
      known.set(key, yield* latestSession(database, job.agent, wish.place, wish.ownOf));
    const found = known.get(key);
    if (found) latest.set(id, found);
  }
  return latest;
}

function places(values: readonly unknown[]): string {
  return values.map(() => "?").join(", ");
}
