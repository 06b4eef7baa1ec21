import type { Retention } from "../contract.ts";
import type { Database } from "./database.ts";

/** Agent by agent along one index, so that the price is what goes and not what stays. */
export function pruneJobs(database: Database, retention: Retention, now: Date): string[] {
  return database.transaction(() => {
    const ids: string[] = [];
    for (const agent of agentsWithFinished(database)) {
      const room = retention.limit - ids.length;
      if (room <= 0) break;
      ids.push(
        ...finishedBefore(database, agent, startOfKept(database, agent, retention, now), room),
      );
    }
    for (const id of ids) database.run("DELETE FROM jobs WHERE id = ?", id);
    return ids;
  });
}

/** One step along the index for each agent; DISTINCT would walk through every job. */
function agentsWithFinished(database: Database): string[] {
  const first = "SELECT min(agent) FROM jobs INDEXED BY jobs_ended WHERE finished_at IS NOT NULL";
  const sql = `WITH RECURSIVE names (agent) AS (
                 ${first}
                 UNION ALL
                 SELECT (${first} AND jobs.agent > names.agent) FROM names WHERE agent IS NOT NULL
               )
               SELECT agent FROM names WHERE agent IS NOT NULL`;
  return database.all(sql).map((row) => String(row.agent));
}

/** What an agent finished earlier than this goes. */
function startOfKept(
  database: Database,
  agent: string,
  { finishedBefore, keepPerAgent }: Retention,
  now: Date,
): Date {
  const byAge = finishedBefore?.getTime() ?? 0;
  const byCount = keepPerAgent === undefined ? 0 : oldestOfNewest(database, agent, keepPerAgent);
  return new Date(Math.max(byAge, Math.min(byCount, now.getTime() - dayOfCosts)));
}

/** With an hour to spare for the day on which clocks are set back. */
const dayOfCosts = 25 * 60 * 60 * 1000;

/** Jobs that ran: a gate that is closed every minute must not push them out. */
function oldestOfNewest(database: Database, agent: string, count: number): number {
  const sql = `SELECT finished_at FROM jobs INDEXED BY jobs_ran
               WHERE agent = ? AND finished_at IS NOT NULL AND status <> 'skipped'
               ORDER BY finished_at DESC LIMIT 1 OFFSET ?`;
  const row = database.get(sql, agent, count - 1);
  return row ? Date.parse(String(row.finished_at)) : 0;
}

function finishedBefore(database: Database, agent: string, time: Date, limit: number): string[] {
  const sql = `SELECT id FROM jobs WHERE agent = ? AND finished_at < ?
               ORDER BY finished_at LIMIT ?`;
  return database.all(sql, agent, time.toISOString(), limit).map((row) => String(row.id));
}
