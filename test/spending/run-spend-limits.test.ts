import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  readSpendLog,
  spendLogPath,
} from "../../packages/core/src/runner/gateway/metering/spend-log.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { runJob, stateDirOf } from "../support/run-job.ts";
import { costPerCallUsd, directCalls, model, scriptForCommand } from "./api-call-scripts.ts";

function directAnswers(harness: TestHarness) {
  const { entries } = harness.rehearsal.ledger;
  return entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call"));
}

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("refuses direct API calls of a tool beyond `max_budget_usd`", async () => {
    const harness = await startHarness({ script: scriptForCommand(directCalls(5)) });
    const yaml = `runtime: ${runtime}\nmodel: ${model}\nmax_budget_usd: 0.2`;
    const { job } = await runJob(harness, { prompt: "spend", yaml });
    expect(directAnswers(harness)).toHaveLength(2);
    expect(job.outcome).toMatchObject({
      code: "budget_exceeded",
      message: "The spending limit of this job is reached (max_budget_usd: $0.2).",
      hint: expect.stringContaining("max_budget_usd"),
    });
    expect(job.cost_usd).toBeGreaterThanOrEqual(2 * costPerCallUsd);
    expect(job.usage?.input_tokens).toBeGreaterThanOrEqual(40_000);
    expect(job.warnings.join()).toContain("the spending limit of this job is reached");
  });

  test("records the metered cost of a run whose tool kills `claude`", async () => {
    const harness = await startHarness({
      script: scriptForCommand(`${directCalls(2)}; kill -9 $PPID`),
    });
    const yaml = `runtime: ${runtime}\nmodel: ${model}`;
    const { job } = await runJob(harness, { prompt: "spend", yaml });
    expect(job.outcome?.code).toBe("runtime_crashed");
    expect(job.cost_usd).toBeGreaterThanOrEqual(2 * costPerCallUsd);
    expect(job.usage?.output_tokens).toBeGreaterThanOrEqual(2_000);
  });
});

test("records the cost that `claude` reports for an ordinary run", async () => {
  const harness = await startHarness({ script: scriptForCommand("true") });
  const { job } = await runJob(harness, { prompt: "spend", yaml: `model: ${model}` });
  expect(job.outcome?.code).toBe("success");
  expect(job.cost_usd).toBeCloseTo(2 * (100 * 4e-6 + 10 * 20e-6), 9);
  const log = spendLogPath(join(stateDirOf(harness), "jobs", job.id), 1);
  expect(await readSpendLog(log)).toHaveLength(2);
});

test("stops a run and refuses the next job when the day's dollars or tokens are used up", async () => {
  for (const budget of ["daily_usd: 0.2", "daily_tokens: 30000"]) {
    const harness = await startHarness({ script: scriptForCommand(directCalls(5)) });
    const yaml = `model: ${model}\nbudget: { ${budget} }`;
    const { job } = await runJob(harness, { prompt: "spend", yaml });
    expect(directAnswers(harness)).toHaveLength(2);
    expect(job.outcome).toMatchObject({
      code: "budget_exceeded",
      message: expect.stringContaining(`budget.${budget.split(":")[0]}`),
    });
    const next = await runJob(harness, { prompt: "spend", yaml });
    expect(next.job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
  }
});

test("warns once about a model without a price", async () => {
  const harness = await startHarness({ script: scriptForCommand("true") });
  const { job } = await runJob(harness, { prompt: "spend", yaml: "model: claude-opus-99" });
  const about = job.warnings.filter((one) => one.includes("claude-opus-99"));
  expect(about.filter((one) => one.includes("price"))).toHaveLength(1);
  expect(job.cost_usd).toBeCloseTo(2 * (100 * 15e-6 + 10 * 75e-6), 9);
});

test("applies prices of the fleet file", async () => {
  const harness = await startHarness({ script: scriptForCommand("true") });
  const fleet = { prices: { "claude-opus-99": { input: 40, output: 0 } } };
  const yaml = "model: claude-opus-99";
  const { job } = await runJob(harness, { prompt: "spend", yaml, fleet });
  expect(job.warnings.filter((one) => one.includes("price"))).toEqual([]);
  expect(job.cost_usd).toBeCloseTo(2 * 100 * 40e-6, 9);
});
