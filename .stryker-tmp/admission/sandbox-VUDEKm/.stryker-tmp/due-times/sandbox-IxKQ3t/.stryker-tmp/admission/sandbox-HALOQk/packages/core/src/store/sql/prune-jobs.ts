import type { JobRetention } from "../contracts/job-store.ts";
import type { SqlDialect } from "./sql-database.ts";
import { execute, queryRow, queryRows, type SqlProgram } from "./sql-program.ts";

/**
 * Goes through the agents along one index, so that the cost depends on the deleted jobs and not on
 * the kept ones.
 */
export function* pruneJobs(
  dialect: SqlDialect,
  retention: JobRetention,
  now: Date,
): SqlProgram<string[]> {
  const ids: string[] = [];
  for (const agent of yield* agentsWithFinished(dialect)) {
    const remaining = retention.limit - ids.length;
    if (remaining <= 0) break;
    const cutoff = yield* keepCutoff(dialect, agent, retention, now);
    ids.push(...(yield* finishedBefore(agent, cutoff, remaining)));
  }
  for (const id of ids) yield* execute("DELETE FROM jobs WHERE id = ?", id);
  return ids;
}

/** One index step per agent; DISTINCT would read every job. */
function* agentsWithFinished({ hint }: SqlDialect): SqlProgram<string[]> {
  const first = `SELECT min(agent) FROM jobs ${hint("jobs_ended")} WHERE finished_at IS NOT NULL`;
  const sql = `WITH RECURSIVE names (agent) AS (
                 ${first}
                 UNION ALL
                 SELECT (${first} AND jobs.agent > names.agent) FROM names WHERE agent IS NOT NULL
               )
               SELECT agent FROM names WHERE agent IS NOT NULL`;
  return (yield* queryRows(sql)).map((row) => String(row.agent));
}

/** Jobs of the agent that finished before this time are deleted. */
function* keepCutoff(
  dialect: SqlDialect,
  agent: string,
  { finishedBefore, keepPerAgent }: JobRetention,
  now: Date,
): SqlProgram<Date> {
  const byAge = finishedBefore?.getTime() ?? 0;
  const byCount =
    keepPerAgent === undefined ? 0 : yield* nthNewestFinishedAt(dialect, agent, keepPerAgent);
  return new Date(Math.max(byAge, Math.min(byCount, now.getTime() - costDayMs)));
}

/** With an extra hour for the day on which clocks are set back. */
const costDayMs = 25 * 60 * 60 * 1000;

/** Counts only jobs that ran, so that a gate that closes every minute does not push them out. */
function* nthNewestFinishedAt(
  { hint }: SqlDialect,
  agent: string,
  count: number,
): SqlProgram<number> {
  const sql = `SELECT finished_at FROM jobs ${hint("jobs_ran")}
               WHERE agent = ? AND finished_at IS NOT NULL AND status <> 'skipped'
               ORDER BY finished_at DESC LIMIT 1 OFFSET ?`;
  const row = yield* queryRow(sql, agent, count - 1);
  return row ? Date.parse(String(row.finished_at)) : 0;
}

function* finishedBefore(agent: string, time: Date, limit: number): SqlProgram<string[]> {
  const sql = `SELECT id FROM jobs WHERE agent = ? AND finished_at < ?
               ORDER BY finished_at LIMIT ?`;
  return (yield* queryRows(sql, agent, time.toISOString(), limit)).map((row) => String(row.id));
}
