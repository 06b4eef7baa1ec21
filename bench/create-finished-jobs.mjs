// A state with many finished jobs: the library creates one, and SQLite copies it.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StateManager } from "@herdctl/core/internal";

const spreadDays = 25;

/** Spread evenly over the last days and over the agents. */
export async function createFinishedJobs(stateDir, agents, count) {
  const id = await finishJob(stateDir, agents[0]);
  const database = new DatabaseSync(join(stateDir, "herd.db"));
  database.exec(`
    BEGIN;
    CREATE TEMP TABLE copies AS
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      SELECT n,
             printf('job-2026-01-01-%010d', n) AS id,
             json_extract('${JSON.stringify(agents)}', '$[' || (n % ${agents.length}) || ']') AS agent,
             strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (n * ${spreadDays * 86_400} / ${count}) || ' seconds') AS at
      FROM numbers;
    INSERT INTO jobs (id, record)
      SELECT copies.id,
             json_set(record, '$.id', copies.id, '$.agent', copies.agent,
                      '$.created_at', at, '$.started_at', at, '$.finished_at', at)
      FROM copies, jobs WHERE jobs.id = '${id}' ORDER BY n DESC;
    INSERT INTO attempts (job_id, number, record)
      SELECT copies.id, 1,
             json_set(record, '$.job_id', copies.id, '$.started_at', at, '$.finished_at', at)
      FROM copies, attempts WHERE attempts.job_id = '${id}';
    INSERT OR REPLACE INTO day_costs
      SELECT substr(at, 1, 10), copies.agent, '', '', count(*), count(*) * usd, 0, 0, 0, 0
      FROM copies, (SELECT usd FROM day_costs LIMIT 1) GROUP BY 1, 2;
    DELETE FROM jobs WHERE id = '${id}';
    COMMIT`);
  database.close();
}

async function finishJob(stateDir, agent) {
  const state = await new StateManager(stateDir).open();
  const { job } = await state.jobs.create({ agent, prompt: "hello" });
  await state.jobs.startAttempt(job.id);
  const outcome = { code: "success", message: "The agent finished.", hint: "Nothing to do." };
  const end = { outcome_code: "success", session_id: null, cost_usd: 0.01 };
  await state.jobs.endAttempt(job.id, 1, end, { status: "completed", outcome, summary: "Done." });
  await state.close();
  return job.id;
}
