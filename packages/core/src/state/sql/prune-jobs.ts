import type { Retention } from "../job-store.ts";
import type { Dialect } from "./sql-database.ts";
import { all, one, run, type Steps } from "./steps.ts";

/** Agent by agent along one index, so that the price is what goes and not what stays. */
export function* pruneJobs(dialect: Dialect, retention: Retention, now: Date): Steps<string[]> {
  const ids: string[] = [];
  for (const agent of yield* agentsWithFinished(dialect)) {
    const room = retention.limit - ids.length;
    if (room <= 0) break;
    const start = yield* startOfKept(dialect, agent, retention, now);
    ids.push(...(yield* finishedBefore(agent, start, room)));
  }
  for (const id of ids) yield* run("DELETE FROM jobs WHERE id = ?", id);
  return ids;
}

/** One step along the index for each agent; DISTINCT would walk through every job. */
function* agentsWithFinished({ hint }: Dialect): Steps<string[]> {
  const first = `SELECT min(agent) FROM jobs ${hint("jobs_ended")} WHERE finished_at IS NOT NULL`;
  const sql = `WITH RECURSIVE names (agent) AS (
                 ${first}
                 UNION ALL
                 SELECT (${first} AND jobs.agent > names.agent) FROM names WHERE agent IS NOT NULL
               )
               SELECT agent FROM names WHERE agent IS NOT NULL`;
  return (yield* all(sql)).map((row) => String(row.agent));
}

/** What an agent finished earlier than this goes. */
function* startOfKept(
  dialect: Dialect,
  agent: string,
  { finishedBefore, keepPerAgent }: Retention,
  now: Date,
): Steps<Date> {
  const byAge = finishedBefore?.getTime() ?? 0;
  const byCount =
    keepPerAgent === undefined ? 0 : yield* oldestOfNewest(dialect, agent, keepPerAgent);
  return new Date(Math.max(byAge, Math.min(byCount, now.getTime() - dayOfCosts)));
}

/** With an hour to spare for the day on which clocks are set back. */
const dayOfCosts = 25 * 60 * 60 * 1000;

/** Jobs that ran: a gate that is closed every minute must not push them out. */
function* oldestOfNewest({ hint }: Dialect, agent: string, count: number): Steps<number> {
  const sql = `SELECT finished_at FROM jobs ${hint("jobs_ran")}
               WHERE agent = ? AND finished_at IS NOT NULL AND status <> 'skipped'
               ORDER BY finished_at DESC LIMIT 1 OFFSET ?`;
  const row = yield* one(sql, agent, count - 1);
  return row ? Date.parse(String(row.finished_at)) : 0;
}

function* finishedBefore(agent: string, time: Date, limit: number): Steps<string[]> {
  const sql = `SELECT id FROM jobs WHERE agent = ? AND finished_at < ?
               ORDER BY finished_at LIMIT ?`;
  return (yield* all(sql, agent, time.toISOString(), limit)).map((row) => String(row.id));
}
