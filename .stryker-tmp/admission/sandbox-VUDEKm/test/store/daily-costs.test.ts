import { expect, test } from "vitest";
import { dayOf } from "../../packages/core/src/lib/time-zone.ts";
import type { JobStore } from "../../packages/core/src/store/contracts/job-store.ts";
import { createStores } from "../../packages/core/src/store/sql/stores.ts";
import type { Usage } from "../../packages/protocol/src/records/usage.ts";
import { openStores } from "./test-stores.ts";

const endedAttempt = { outcome_code: "success", session_id: null } as const;
const tokens = {
  input_tokens: 10,
  output_tokens: 5,
  cache_read_input_tokens: 3,
  cache_creation_input_tokens: 2,
};

type Jobs = JobStore;
interface FinishedRun {
  agent: string;
  schedule?: string;
  cost: number | null;
  models?: Record<string, number>;
}

function usageOf(models: Record<string, number>): Usage {
  const names = Object.entries(models);
  const times = (n: number) => names.length * n;
  return {
    input_tokens: times(tokens.input_tokens),
    output_tokens: times(tokens.output_tokens),
    cache_read_input_tokens: times(tokens.cache_read_input_tokens),
    cache_creation_input_tokens: times(tokens.cache_creation_input_tokens),
    models: Object.fromEntries(names.map(([name, cost_usd]) => [name, { ...tokens, cost_usd }])),
  };
}

async function recordRun(
  jobs: Jobs,
  { agent, schedule, cost, models }: FinishedRun,
): Promise<string> {
  const { job } = await jobs.create({ agent, schedule, prompt: "p" });
  await jobs.startAttempt(job.id);
  const usage = models ? usageOf(models) : null;
  await jobs.endAttempt(job.id, 1, { ...endedAttempt, cost_usd: cost, usage });
  return job.id;
}

const all = { since: "2029-01-01", until: "2031-01-01" };

test("keeps equal totals by agent, by schedule and by model", async () => {
  const { jobs, budgets } = await openStores();
  await recordRun(jobs, {
    agent: "a",
    schedule: "daily",
    cost: 0.5,
    models: { opus: 0.4, haiku: 0.1 },
  });
  await recordRun(jobs, { agent: "a", cost: 0.25, models: { opus: 0.25 } });
  await recordRun(jobs, { agent: "b", cost: 1 });
  await recordRun(jobs, { agent: "b", cost: null });

  const seen = async (by: "agent" | "schedule" | "model") =>
    (await budgets.listCosts({ by, ...all })).map((one) => [
      one.agent,
      one.schedule,
      one.model,
      one.usd,
      one.runs,
      one.input_tokens,
    ]);
  expect(await seen("agent")).toEqual([
    ["a", null, null, 0.75, 2, 30],
    ["b", null, null, 1, 2, 0],
  ]);
  expect(await seen("schedule")).toEqual([
    ["a", null, null, 0.25, 1, 10],
    ["a", "daily", null, 0.5, 1, 20],
    ["b", null, null, 1, 2, 0],
  ]);
  expect(await seen("model")).toEqual([
    [null, null, null, 1, 0, 0],
    [null, null, "haiku", 0.1, 1, 10],
    [null, null, "opus", 0.65, 2, 20],
  ]);
});

test("counts an attempt that is ended twice once", async () => {
  const { jobs, budgets } = await openStores();
  const id = await recordRun(jobs, { agent: "a", cost: 1 });
  await jobs.endAttempt(id, 1, { ...endedAttempt, cost_usd: 1 });
  expect(await budgets.listCosts({ by: "agent", ...all })).toMatchObject([{ usd: 1, runs: 1 }]);
});

test("counts a run on the local day of the fleet", async () => {
  const { database, budgets, time } = await openStores();
  const { jobs } = createStores(database, {
    clock: () => new Date(time.now),
    outputFile: () => "",
    dayName: (at) => dayOf(at, "Asia/Tokyo").name,
  });
  time.now = Date.parse("2030-01-01T14:59:59.000Z");
  await recordRun(jobs, { agent: "a", cost: 1 });
  time.now = Date.parse("2030-01-01T15:00:00.000Z");
  await recordRun(jobs, { agent: "a", cost: 2 });
  const found = await budgets.listCosts({ by: "agent", ...all });
  expect(found.map(({ day, usd }) => [day, usd])).toEqual([
    ["2030-01-01", 1],
    ["2030-01-02", 2],
  ]);
  const one = { by: "agent", since: "2030-01-02", until: "2030-01-02" } as const;
  expect(await budgets.listCosts(one)).toMatchObject([{ usd: 2 }]);
});

test("keeps the cost of a removed job", async () => {
  const { jobs, budgets, time } = await openStores();
  const id = await recordRun(jobs, { agent: "a", cost: 1 });
  const outcome = { code: "success", message: "m", hint: "h" } as const;
  await jobs.update(id, { status: "completed", outcome });
  time.now += 1000;
  expect(await jobs.prune({ finishedBefore: new Date(time.now), limit: 10 })).toEqual([id]);
  expect(await budgets.listCosts({ by: "agent", ...all })).toMatchObject([{ agent: "a", usd: 1 }]);
});
