import { existsSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { runJob, stateDirOf } from "../support/job.ts";
import { stage } from "../support/stage.ts";

const hi = { script: { rules: [{ reply: "Good morning." }] } };

test("a run in one's own program is held against the agent's budget, and counts", async () => {
  const on = await stage(hi);
  const yaml = "runtime: cli\nbudget: { daily_jobs: 1 }";
  expect(await runJob(on, { yaml })).toMatchObject({ success: true });
  const asked = on.rehearsal.ledger.main.length;
  const second = await runJob(on, { yaml });
  expect(second).toMatchObject({
    success: false,
    sessionId: "",
    job: { status: "skipped", attempts: 0, outcome: { code: "budget_exceeded" } },
    error: { name: "RunnerError", outcome: { code: "budget_exceeded" } },
  });
  expect(second.error?.message).toContain("`one` has used 1 of 1");
  expect(on.rehearsal.ledger.main).toHaveLength(asked);
  const roomier = { yaml: "runtime: cli\nbudget: { daily_jobs: 2 }" };
  expect(await runJob(on, roomier)).toMatchObject({ success: true });
});

test("a job that may cost more than is left is not begun", async () => {
  const on = await stage(hi);
  const yaml = "runtime: cli\nmax_budget_usd: 2\nbudget: { daily_usd: 1 }";
  const { job } = await runJob(on, { yaml });
  expect(job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
});

test("the fleet's budget holds where it is given, and counts all agents", async () => {
  const on = await stage(hi);
  const fleet = { budget: { daily_jobs: 1 }, timezone: "Asia/Tokyo" };
  expect(await runJob(on, { yaml: "runtime: cli", fleet })).toMatchObject({ success: true });
  const { job } = await runJob(on, { yaml: "runtime: cli", fleet });
  expect(job.outcome?.message).toContain("The fleet has used 1 of 1");
  expect(await runJob(on, { yaml: "runtime: cli" })).toMatchObject({ success: true });
});

test("it runs no hooks, whatever came of it, and leaves none to a later fleet", async () => {
  const on = await stage(hi);
  const file = join(on.home, "ran");
  const hook = `[{ type: shell, command: "touch ${file}", on: [success, budget_exceeded] }]`;
  const yaml = `runtime: cli\nbudget: { daily_jobs: 1 }\nhooks: { after_run: ${hook} }`;
  for (const status of ["completed", "skipped"]) {
    expect((await runJob(on, { yaml })).job.status).toBe(status);
  }
  const state = await new StateManager(stateDirOf(on)).open();
  expect(await state.hooks.list({ limit: 10 })).toEqual([]);
  expect(await state.hooks.undecided()).toEqual([]);
  await state.close();
  expect(existsSync(file)).toBe(false);
});
