import { existsSync } from "node:fs";
import { join } from "node:path";
import { StateManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { startHarness } from "../support/harness.ts";
import { runJob, stateDirOf } from "../support/run-job.ts";

const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };

test("limits and counts a run in a program of one's own by the agent's budget", async () => {
  const harness = await startHarness(greetingScript);
  const yaml = "runtime: cli\nbudget: { daily_jobs: 1 }";
  expect(await runJob(harness, { yaml })).toMatchObject({ success: true });
  const asked = harness.rehearsal.ledger.main.length;
  const second = await runJob(harness, { yaml });
  expect(second).toMatchObject({
    success: false,
    sessionId: "",
    job: { status: "skipped", attempts: 0, outcome: { code: "budget_exceeded" } },
    error: { name: "RunnerError", outcome: { code: "budget_exceeded" } },
  });
  expect(second.error?.message).toContain("`one` has used 1 of 1");
  expect(harness.rehearsal.ledger.main).toHaveLength(asked);
  const roomier = { yaml: "runtime: cli\nbudget: { daily_jobs: 2 }" };
  expect(await runJob(harness, roomier)).toMatchObject({ success: true });
});

test("does not start a job that may cost more than is left", async () => {
  const harness = await startHarness(greetingScript);
  const yaml = "runtime: cli\nmax_budget_usd: 2\nbudget: { daily_usd: 1 }";
  const { job } = await runJob(harness, { yaml });
  expect(job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
});

test("applies the fleet's budget where it is given, and counts all agents", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = { budget: { daily_jobs: 1 }, timezone: "Asia/Tokyo" };
  expect(await runJob(harness, { yaml: "runtime: cli", fleet })).toMatchObject({ success: true });
  const { job } = await runJob(harness, { yaml: "runtime: cli", fleet });
  expect(job.outcome?.message).toContain("The fleet has used 1 of 1");
  expect(await runJob(harness, { yaml: "runtime: cli" })).toMatchObject({ success: true });
});

test("runs no hooks for any outcome and leaves none to a later fleet", async () => {
  const harness = await startHarness(greetingScript);
  const file = join(harness.home, "ran");
  const hook = `[{ type: shell, command: "touch ${file}", outcomes: [success, budget_exceeded] }]`;
  const yaml = `runtime: cli\nbudget: { daily_jobs: 1 }\nhooks: { after_run: ${hook} }`;
  for (const status of ["completed", "skipped"]) {
    expect((await runJob(harness, { yaml })).job.status).toBe(status);
  }
  const state = await new StateManager(stateDirOf(harness)).open();
  expect(await state.hooks.list({ limit: 10 })).toEqual([]);
  expect(await state.hooks.listUndecidedJobs()).toEqual([]);
  await state.close();
  expect(existsSync(file)).toBe(false);
});
