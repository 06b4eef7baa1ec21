import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readSpendLog, spendLogPath } from "../../packages/core/src/gateway/metering/spend-log.ts";
import { runJob, stateDirOf } from "../support/job.ts";
import { type Stage, stage } from "../support/stage.ts";
import { callUsd, directCalls, model, scriptFor } from "./calls.ts";

function directAnswers(on: Stage) {
  const { entries } = on.rehearsal.ledger;
  return entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call"));
}

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("a tool that calls the API directly is refused beyond `max_budget_usd`", async () => {
    const on = await stage({ script: scriptFor(directCalls(5)) });
    const yaml = `runtime: ${runtime}\nmodel: ${model}\nmax_budget_usd: 0.2`;
    const { job } = await runJob(on, { prompt: "spend", yaml });
    expect(directAnswers(on)).toHaveLength(2);
    expect(job.outcome).toMatchObject({
      code: "budget_exceeded",
      message: "The spending limit of this run is reached (max_budget_usd: $0.2).",
      hint: expect.stringContaining("max_budget_usd"),
    });
    expect(job.cost_usd).toBeGreaterThanOrEqual(2 * callUsd);
    expect(job.usage?.input_tokens).toBeGreaterThanOrEqual(40_000);
    expect(job.warnings.join()).toContain("the spending limit of this run is reached");
  });

  test("a run whose tool kills `claude` costs what was metered", async () => {
    const on = await stage({ script: scriptFor(`${directCalls(2)}; kill -9 $PPID`) });
    const yaml = `runtime: ${runtime}\nmodel: ${model}`;
    const { job } = await runJob(on, { prompt: "spend", yaml });
    expect(job.outcome?.code).toBe("runtime_crashed");
    expect(job.cost_usd).toBeGreaterThanOrEqual(2 * callUsd);
    expect(job.usage?.output_tokens).toBeGreaterThanOrEqual(2_000);
  });
});

test("an ordinary run costs what `claude` reports", async () => {
  const on = await stage({ script: scriptFor("true") });
  const { job } = await runJob(on, { prompt: "spend", yaml: `model: ${model}` });
  expect(job.outcome?.code).toBe("success");
  expect(job.cost_usd).toBeCloseTo(2 * (100 * 4e-6 + 10 * 20e-6), 9);
  const log = spendLogPath(join(stateDirOf(on), "jobs", job.id), 1);
  expect(await readSpendLog(log)).toHaveLength(2);
});

test("what is left of the day's dollars or tokens closes a run and the next job", async () => {
  for (const budget of ["daily_usd: 0.2", "daily_tokens: 30000"]) {
    const on = await stage({ script: scriptFor(directCalls(5)) });
    const yaml = `model: ${model}\nbudget: { ${budget} }`;
    const { job } = await runJob(on, { prompt: "spend", yaml });
    expect(directAnswers(on)).toHaveLength(2);
    expect(job.outcome).toMatchObject({
      code: "budget_exceeded",
      message: expect.stringContaining(`budget.${budget.split(":")[0]}`),
    });
    const next = await runJob(on, { prompt: "spend", yaml });
    expect(next.job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
  }
});

test("a model without a price is warned about once", async () => {
  const on = await stage({ script: scriptFor("true") });
  const { job } = await runJob(on, { prompt: "spend", yaml: "model: claude-opus-99" });
  expect(job.warnings.filter((one) => one.includes("claude-opus-99"))).toHaveLength(1);
  expect(job.cost_usd).toBeCloseTo(2 * (100 * 15e-6 + 10 * 75e-6), 9);
});

test("prices of the fleet file count", async () => {
  const on = await stage({ script: scriptFor("true") });
  const fleet = { prices: { "claude-opus-99": { input: 40, output: 0 } } };
  const yaml = "model: claude-opus-99";
  const { job } = await runJob(on, { prompt: "spend", yaml, fleet });
  expect(job.warnings).toEqual([]);
  expect(job.cost_usd).toBeCloseTo(2 * 100 * 40e-6, 9);
});
