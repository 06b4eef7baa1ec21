// A state with many finished jobs: the library makes one, and SQLite copies it in one transaction.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StateManager } from "@herdctl/core";

const days = 25;

/** Spread evenly over the last days and over the agents. */
export async function finishedJobs(stateDir, agents, amount) {
  const id = await finishOne(stateDir, agents[0]);
  const database = new DatabaseSync(join(stateDir, "herd.db"));
  database.exec(`
    BEGIN;
    CREATE TEMP TABLE copies AS
      WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${amount})
      SELECT n,
             printf('job-2026-01-01-%010d', n) AS id,
             json_extract('${JSON.stringify(agents)}', '$[' || (n % ${agents.length}) || ']') AS agent,
             strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-' || (n * ${days * 86_400} / ${amount}) || ' seconds') AS at
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

/** The same in a store that nodes share, some at a time. */
export async function finishedJobsIn(store, agents, amount, ask) {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-bench-"));
  const id = await finishOne(folder, agents[0], { store });
  rmSync(folder, { recursive: true });
  const names = `ARRAY[${agents.map((name) => `'${name}'`).join()}]`;
  const copies = (from, until) => `
    SELECT n, 'job-2026-01-01-' || lpad(n::text, 10, '0') AS id,
           (${names})[1 + n % ${agents.length}] AS agent,
           to_char(now() AT TIME ZONE 'UTC' - (${amount} - n) * interval '1 second' * ${days * 86_400} / ${amount},
                   'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at
    FROM generate_series(${from}, ${until}) AS n`;
  const step = 50_000;
  for (let from = 1; from <= amount; from += step) {
    const some = copies(from, Math.min(from + step - 1, amount));
    await ask(
      store,
      `SET synchronous_commit = off;
       INSERT INTO herdctl.jobs (id, record)
         SELECT c.id, (record::jsonb || jsonb_build_object('id', c.id, 'agent', c.agent,
             'created_at', at, 'started_at', at, 'finished_at', at,
             'chain', record::jsonb -> 'chain' || jsonb_build_object('id', c.id)))::text
         FROM (${some}) AS c, herdctl.jobs WHERE jobs.id = '${id}' ORDER BY n;
       INSERT INTO herdctl.attempts (job_id, number, record)
         SELECT c.id, 1, (record::jsonb || jsonb_build_object('job_id', c.id,
             'started_at', at, 'finished_at', at))::text
         FROM (${some}) AS c, herdctl.attempts WHERE attempts.job_id = '${id}'`,
    );
  }
  await ask(
    store,
    `DELETE FROM herdctl.day_costs;
     INSERT INTO herdctl.day_costs (day, agent, schedule, model, runs, usd,
         input_tokens, output_tokens, cache_creation_input_tokens, cache_read_input_tokens)
       SELECT substr(at, 1, 10), c.agent, '', '', count(*), count(*) * 0.01, 0, 0, 0, 0
       FROM (${copies(1, amount)}) AS c GROUP BY 1, 2;
     DELETE FROM herdctl.jobs WHERE id = '${id}';
     DELETE FROM herdctl.endings`,
  );
  // As the server does it by itself after a while.
  await ask(store, "VACUUM ANALYZE");
}

async function finishOne(stateDir, agent, options) {
  const state = await new StateManager(stateDir).open(options);
  const { job } = await state.jobs.create({ agent, prompt: "hello" });
  await state.jobs.startAttempt(job.id);
  const outcome = { code: "success", message: "The agent finished.", hint: "Nothing to do." };
  const end = { outcome_code: "success", session_id: null, cost_usd: 0.01 };
  await state.jobs.endAttempt(job.id, 1, end, { status: "completed", outcome, summary: "Done." });
  await state.close();
  return job.id;
}

/** The SQLite that the library itself uses. */
const { DatabaseSync } = isBuiltin("node:sqlite")
  ? await import("node:sqlite")
  : createRequire(createRequire(import.meta.url).resolve("@herdctl/core/package.json"))(
      "@photostructure/sqlite",
    );
