import { describe, expect, test } from "vitest";
import type { Job } from "../../packages/protocol/src/records/job.ts";
import { openStores } from "./test-stores.ts";

const dayMs = 24 * 60 * 60 * 1000;
const successOutcome = { code: "success", message: "m", hint: "h" } as const;

type Stores = Awaited<ReturnType<typeof openStores>>;

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

const listJobIds = async ({ jobs }: Stores) =>
  (await jobs.list({ limit: 1000 })).jobs.map((job) => job.id).reverse();

describe("snapshot of unfinished jobs", () => {
  test("contains unfinished jobs, oldest first, with what the queue needs", async () => {
    const stores = await openStores();
    const { jobs, time } = stores;
    const first = (await jobs.create({ agent: "b", prompt: "p", priority: 3 })).job;
    await finishJob(stores, "a");
    time.now += 1;
    const second = (await jobs.create({ agent: "a", prompt: "p", schedule: "daily" })).job;
    const third = (await jobs.create({ agent: "a", prompt: "p" })).job;
    await jobs.startAttempt(second.id);
    const due_at = "2030-01-02T00:00:00.000Z";
    await jobs.update(third.id, { due_at });
    const common = { schedule: null, priority: 0, due_at: null, waits_for: [], status: "pending" };
    expect(await jobs.listLive()).toMatchObject([
      { ...common, id: first.id, agent: "b", priority: 3, created_at: first.created_at },
      {
        ...common,
        id: second.id,
        agent: "a",
        schedule: "daily",
        status: "running",
        created_at: second.created_at,
      },
      { ...common, id: third.id, agent: "a", due_at, created_at: third.created_at },
    ]);
  });
});

describe("cost of a day", () => {
  test("counts every attempt that ended on that day, by agent", async () => {
    const stores = await openStores();
    const { jobs, budgets, time } = stores;
    await finishJob(stores, "a", 100);
    time.now += dayMs;
    const today = new Date(time.now).toISOString().slice(0, 10);
    await finishJob(stores, "a", 0.5);
    await finishJob(stores, "b");
    const { job } = await jobs.create({ agent: "c", prompt: "p" });
    for (const attempt of [1, 2]) {
      await jobs.startAttempt(job.id);
      const end = { outcome_code: "network", session_id: null, cost_usd: 0.25 } as const;
      await jobs.endAttempt(job.id, attempt, end);
    }
    await jobs.startAttempt(job.id);
    expect(await budgets.listCosts({ by: "agent", since: today, until: today })).toMatchObject([
      { agent: "a", usd: 0.5 },
      { agent: "b", usd: 0 },
      { agent: "c", usd: 0.5 },
    ]);
  });
});

describe("retention", () => {
  test("removes jobs by age with all their records", async () => {
    const stores = await openStores();
    const { jobs, approvals, time } = stores;
    const old = await finishJob(stores, "a");
    const { tool, input } = { tool: "Bash", input: {} };
    const expires_at = new Date(time.now).toISOString();
    await approvals.create({ job_id: old.id, attempt: 1, tool, input, expires_at });
    const live = (await jobs.create({ agent: "a", prompt: "p" })).job;
    time.now += dayMs;
    const young = await finishJob(stores, "a");
    const finishedBefore = new Date(time.now);
    expect(await jobs.prune({ finishedBefore, limit: 100 })).toEqual([old.id]);
    expect(await listJobIds(stores)).toEqual([live.id, young.id]);
    expect(await jobs.listAttempts(old.id)).toEqual([]);
    expect(await approvals.listOpen()).toEqual([]);
  });

  test("keeps by count each agent's newest jobs and the whole last day", async () => {
    const stores = await openStores();
    const { jobs, time } = stores;
    const gone: string[] = [];
    for (let n = 0; n < 5; n++) {
      const job = await finishJob(stores, "busy");
      if (n < 3) gone.push(job.id);
      time.now += 1000;
    }
    await finishJob(stores, "rare");
    expect(await jobs.prune({ keepPerAgent: 2, limit: 100 })).toEqual([]);
    time.now += 2 * dayMs;
    expect(await jobs.prune({ keepPerAgent: 2, limit: 100 })).toEqual(gone);
    expect(await listJobIds(stores)).toHaveLength(3);
  });

  test("removes jobs by either limit when both are set", async () => {
    const stores = await openStores();
    const { jobs, time } = stores;
    const old = [await finishJob(stores, "a"), await finishJob(stores, "b")];
    time.now += 3 * dayMs;
    const beyond = await finishJob(stores, "a");
    time.now += 1000;
    await finishJob(stores, "a");
    time.now += 3 * dayMs;
    const finishedBefore = new Date(time.now - 5 * dayMs);
    const removed = await jobs.prune({ finishedBefore, keepPerAgent: 1, limit: 100 });
    expect(removed.sort()).toEqual([...old, beyond].map((job) => job.id).sort());
  });

  test("removes the oldest jobs in steps until none is left to remove", async () => {
    const stores = await openStores();
    const { jobs, time } = stores;
    for (let n = 0; n < 25; n++) {
      await finishJob(stores, n % 2 === 0 ? "a" : "b");
      time.now += 1000;
    }
    const retention = { finishedBefore: new Date(time.now), limit: 10 };
    const steps: number[] = [];
    for (let removed = 10; removed === 10; ) {
      removed = (await jobs.prune(retention)).length;
      steps.push(removed);
    }
    expect(steps).toEqual([10, 10, 5]);
    expect(await listJobIds(stores)).toEqual([]);
  });

  test("removes nothing without a limit", async () => {
    const stores = await openStores();
    await finishJob(stores, "a");
    stores.time.now += 100 * dayMs;
    expect(await stores.jobs.prune({ limit: 100 })).toEqual([]);
  });
});
