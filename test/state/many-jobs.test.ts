import { describe, expect, test } from "vitest";
import type { Job } from "../../packages/core/src/state/job.ts";
import { newStores } from "./support.ts";

const day = 24 * 60 * 60 * 1000;
const done = { code: "success", message: "m", hint: "h" } as const;

type Stores = Awaited<ReturnType<typeof newStores>>;

/** A job that ran to its end at the stores' present time. */
async function finish(
  { jobs }: Stores,
  agent: string,
  cost_usd: number | null = null,
): Promise<Job> {
  const { job } = await jobs.create({ agent, prompt: "p" });
  await jobs.startAttempt(job.id);
  await jobs.endAttempt(job.id, 1, { outcome_code: "success", session_id: null, cost_usd });
  return (await jobs.update(job.id, { status: "completed", outcome: done })).job;
}

const idsOf = async ({ jobs }: Stores) =>
  (await jobs.list({ limit: 1000 })).jobs.map((job) => job.id).reverse();

describe("the snapshot", () => {
  test("holds what is not finished, oldest first, with what the queue decides by", async () => {
    const stores = await newStores();
    const { jobs, time } = stores;
    const first = (await jobs.create({ agent: "b", prompt: "p", priority: 3 })).job;
    await finish(stores, "a");
    time.now += 1;
    const second = (await jobs.create({ agent: "a", prompt: "p", schedule: "daily" })).job;
    const third = (await jobs.create({ agent: "a", prompt: "p" })).job;
    await jobs.startAttempt(second.id);
    const due_at = "2030-01-02T00:00:00.000Z";
    await jobs.update(third.id, { due_at });
    const common = { schedule: null, priority: 0, due_at: null, waits_for: [], status: "pending" };
    expect(await jobs.snapshot()).toMatchObject([
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

describe("the cost of a day", () => {
  test("counts every attempt that ended on it, by agent", async () => {
    const stores = await newStores();
    const { jobs, budgets, time } = stores;
    await finish(stores, "a", 100);
    time.now += day;
    const today = new Date(time.now).toISOString().slice(0, 10);
    await finish(stores, "a", 0.5);
    await finish(stores, "b");
    const { job } = await jobs.create({ agent: "c", prompt: "p" });
    for (const attempt of [1, 2]) {
      await jobs.startAttempt(job.id);
      const end = { outcome_code: "network", session_id: null, cost_usd: 0.25 } as const;
      await jobs.endAttempt(job.id, attempt, end);
    }
    await jobs.startAttempt(job.id);
    expect(await budgets.costs({ by: "agent", since: today, until: today })).toMatchObject([
      { agent: "a", usd: 0.5 },
      { agent: "b", usd: 0 },
      { agent: "c", usd: 0.5 },
    ]);
  });
});

describe("retention", () => {
  test("by age: what finished too long ago goes, with all that hangs on it", async () => {
    const stores = await newStores();
    const { jobs, approvals, time } = stores;
    const old = await finish(stores, "a");
    const { tool, input } = { tool: "Bash", input: {} };
    const expires_at = new Date(time.now).toISOString();
    await approvals.ask({ job_id: old.id, attempt: 1, tool, input, expires_at });
    const live = (await jobs.create({ agent: "a", prompt: "p" })).job;
    time.now += day;
    const young = await finish(stores, "a");
    const finishedBefore = new Date(time.now);
    expect(await jobs.prune({ finishedBefore, limit: 100 })).toEqual([old.id]);
    expect(await idsOf(stores)).toEqual([live.id, young.id]);
    expect(await jobs.attempts(old.id)).toEqual([]);
    expect(await approvals.open()).toEqual([]);
  });

  test("by count: each agent keeps its newest, and the last day whole", async () => {
    const stores = await newStores();
    const { jobs, time } = stores;
    const gone: string[] = [];
    for (let n = 0; n < 5; n++) {
      const job = await finish(stores, "busy");
      if (n < 3) gone.push(job.id);
      time.now += 1000;
    }
    await finish(stores, "rare");
    expect(await jobs.prune({ keepPerAgent: 2, limit: 100 })).toEqual([]);
    time.now += 2 * day;
    expect(await jobs.prune({ keepPerAgent: 2, limit: 100 })).toEqual(gone);
    expect(await idsOf(stores)).toHaveLength(3);
  });

  test("by both: either is reason enough", async () => {
    const stores = await newStores();
    const { jobs, time } = stores;
    const old = [await finish(stores, "a"), await finish(stores, "b")];
    time.now += 3 * day;
    const beyond = await finish(stores, "a");
    time.now += 1000;
    await finish(stores, "a");
    time.now += 3 * day;
    const finishedBefore = new Date(time.now - 5 * day);
    const removed = await jobs.prune({ finishedBefore, keepPerAgent: 1, limit: 100 });
    expect(removed.sort()).toEqual([...old, beyond].map((job) => job.id).sort());
  });

  test("goes step by step, the oldest first, until nothing is left to do", async () => {
    const stores = await newStores();
    const { jobs, time } = stores;
    for (let n = 0; n < 25; n++) {
      await finish(stores, n % 2 === 0 ? "a" : "b");
      time.now += 1000;
    }
    const retention = { finishedBefore: new Date(time.now), limit: 10 };
    const steps: number[] = [];
    for (let removed = 10; removed === 10; ) {
      removed = (await jobs.prune(retention)).length;
      steps.push(removed);
    }
    expect(steps).toEqual([10, 10, 5]);
    expect(await idsOf(stores)).toEqual([]);
  });

  test("asks for nothing, removes nothing", async () => {
    const stores = await newStores();
    await finish(stores, "a");
    stores.time.now += 100 * day;
    expect(await stores.jobs.prune({ limit: 100 })).toEqual([]);
  });
});
