import { describe, expect, test } from "vitest";
import type { JobStore } from "../../packages/core/src/store/sql/job-store.ts";

import type { JobQuery } from "../../packages/protocol/src/api/jobs.ts";
import type { Job } from "../../packages/protocol/src/records/job.ts";
import type { OutcomeCode } from "../../packages/protocol/src/records/outcome.ts";
import { memoryStores } from "./test-stores.ts";

const dayMs = 24 * 60 * 60 * 1000;
const successOutcome = { code: "success", message: "m", hint: "h" } as const;
const outcome = (code: OutcomeCode) => ({ code, message: "what happened", hint: "what to do" });

type Stores = ReturnType<typeof memoryStores>;

/** A job that finished at the stores' current time. */
async function finishJob(
  { jobs }: Stores,
  agent: string,
  cost_usd: number | null = null,
): Promise<Job> {
  const { job } = await jobs.create({ agent, prompt: "p" });
  await jobs.startAttempt(job.id);
  await jobs.endAttempt(job.id, 1, { outcome_code: "success", session_id: null, cost_usd });
  return (await jobs.update(job.id, { status: "completed", outcome: successOutcome })).job;
}

describe("listing 20,000 jobs", () => {
  async function fill(jobs: JobStore, time: { now: number }): Promise<string[]> {
    const ids: string[] = [];
    for (let n = 0; n < 20_000; n++) {
      // Three jobs share each millisecond.
      if (n % 3 === 0) time.now += 1;
      const { job } = await jobs.create({
        agent: n % 4 === 0 ? "rare" : "busy",
        prompt: "p",
        ...(n % 1000 === 0 ? { skipped: outcome("overlap") } : {}),
      });
      ids.push(job.id);
    }
    return ids;
  }

  test("pages through all of them newest first, each once, at a constant cost per page", async () => {
    const { jobs, time, database } = memoryStores();
    const start = time.now;
    const ids = await fill(jobs, time);
    const page = (query: object) => jobs.list({ limit: 500, ...query });

    const seen: string[] = [];
    for (let cursor: string | undefined, more = true; more; ) {
      const { jobs: found, next_cursor: next } = await page({ cursor });
      seen.push(...found.map((job) => job.id));
      if (seen.length === 500) await jobs.create({ agent: "busy", prompt: "came meanwhile" });
      cursor = next ?? undefined;
      more = next !== null;
    }
    expect(seen).toEqual(ids.toReversed());

    const skipped = await page({ agent: "rare", status: "skipped" });
    expect(skipped.jobs.map((job) => job.id)).toEqual(
      ids.filter((_, n) => n % 1000 === 0).toReversed(),
    );
    expect(skipped.next_cursor).toBeNull();
    expect((await page({ outcome: "overlap" })).jobs).toHaveLength(20);
    expect((await page({ agent: "nobody" })).jobs).toEqual([]);
    const late = await page({ since: new Date(start + 6_600), agent: "busy" });
    expect(late.jobs.every((job) => Date.parse(job.created_at) >= start + 6_600)).toBe(true);
    expect(late.jobs).toHaveLength(154);

    const queries: Omit<JobQuery, "limit">[] = [
      {},
      { agent: "rare" },
      { status: "skipped" },
      { since: new Date(start) },
    ];
    for (const query of queries) {
      await expectFast(() => jobs.list({ limit: 10, ...query }));
    }
    const plan = database.all(
      "EXPLAIN QUERY PLAN SELECT record FROM jobs WHERE agent = 'a' AND status = 'failed' AND (created_at, seq) < ('x', 1) ORDER BY created_at DESC, seq DESC LIMIT 5",
    );
    expect(plan.map((row) => row.detail)).toEqual([
      expect.stringContaining("SEARCH jobs USING INDEX jobs_agent_status"),
    ]);
  });
});

test("stays fast with 100,000 finished jobs", async () => {
  const stores = memoryStores();
  const { jobs, budgets, database, time } = stores;
  const one = await finishJob(stores, "a", 1);
  const { job: live } = await jobs.create({ agent: "a", prompt: "p", schedule: "daily" });
  database.exec(`
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
    INSERT INTO jobs (id, record)
      SELECT 'old-' || i, json_set(record, '$.id', 'old-' || i, '$.agent', 'agent-' || (i % 20)) FROM n, jobs WHERE id = '${one.id}';
    INSERT INTO attempts (job_id, number, record)
      SELECT id, 1, (SELECT record FROM attempts WHERE job_id = '${one.id}') FROM jobs WHERE id LIKE 'old-%'`);
  time.now += dayMs;
  const today = new Date(time.now);
  await finishJob(stores, "a", 2);

  expect(await expectFast(() => jobs.listLive())).toMatchObject([{ id: live.id }]);
  expect((await expectFast(() => jobs.list({ session: "none", limit: 5 }))).jobs).toEqual([]);
  const all = { by: "agent", since: "2029-12-31", until: "2030-12-31" } as const;
  expect(await expectFast(() => budgets.listCosts(all))).toMatchObject([{ usd: 1 }, { usd: 2 }]);
  const newJob = { agent: "a", prompt: "p", schedule: "daily" };
  const seen = await expectFast(() =>
    jobs.admit({
      job: newJob,
      needsLiveJobs: true,
      decide: ({ liveJobs: [first] }) => ({
        kind: "accept",
        jobsToCancel: first ? [first.id] : [],
      }),
    }),
  );
  expect(seen.jobsToCancel).toEqual([live.id]);
  expect(await expectFast(() => jobs.prune({ keepPerAgent: 1000, limit: 10 }))).toEqual([]);
  time.now += 2 * dayMs;
  expect(await expectFast(() => jobs.prune({ finishedBefore: today, limit: 10 }))).toHaveLength(10);
});

/** The best of a few runs, so that other processes do not affect it. */
async function expectFast<T>(work: () => Promise<T>): Promise<T> {
  const times: number[] = [];
  let last = await work();
  for (let n = 0; n < 5; n++) {
    const began = performance.now();
    last = await work();
    times.push(performance.now() - began);
  }
  expect(Math.min(...times)).toBeLessThan(5);
  return last;
}
