import { expect, test } from "vitest";
import {
  buildReport,
  type ReportFacts,
} from "../../packages/core/src/runner/execution/build-report.ts";
import { emptyEvidence } from "../../packages/core/src/runner/execution/evidence.ts";
import {
  addPricedUsage,
  noSpending,
  noUsage,
} from "../../packages/core/src/runner/gateway/metering/call-usage.ts";

const metered = addPricedUsage(noSpending, [
  { ...noUsage, model: "claude-opus-5-5", input_tokens: 1_000, output_tokens: 100, usd: 2 },
]);

function reportWith(more: Partial<ReportFacts>, costUsd?: number) {
  const inputTokens = costUsd === undefined ? 0 : costUsd * 1_000;
  const counts = { outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 };
  const modelUsage = { "claude-opus-5-5": { inputTokens, costUSD: costUsd ?? 0, ...counts } };
  const resultBase = {
    subtype: "success",
    isError: false,
    errors: [],
    turns: 1,
    isSynthesised: false,
  };
  const result = costUsd === undefined ? undefined : { ...resultBase, costUsd, modelUsage };
  const now = new Date();
  return buildReport({
    order: { jobId: "job-1", attempt: 1, session: { sessionId: "s" }, claude: { version: null } },
    evidence: { ...emptyEvidence(), result },
    startedAt: now,
    finishedAt: now,
    totalsBefore: undefined,
    metered,
    credential: "api_key",
    metadata: undefined,
    deliverables: { report: null, artifacts: [] },
    warnings: [],
    ...more,
  });
}

test.each<[what: string, reported: number | undefined, more: Partial<ReportFacts>, usd: unknown]>([
  ["a forged result with zero cost", 0, {}, 2],
  ["a result below the metered cost", 1.5, {}, 2],
  ["a result above the metered cost", 5, {}, 5],
  ["no result", undefined, {}, 2],
  ["no result and no calls", undefined, { metered: noSpending }, null],
  ["a result of a run without a gateway", 3, { metered: undefined }, 3],
  ["a session with an earlier cost", 5, { totalsBefore: { costUsd: 4.5, models: {} } }, 2],
])("computes the recorded cost with %s", (_, reported, more, usd) => {
  expect(reportWith(more, reported).cost_usd).toBe(usd);
});

test("records the larger token count by model", () => {
  expect(reportWith({}, 0).usage).toMatchObject({
    input_tokens: 1_000,
    models: { "claude-opus-5-5": { output_tokens: 100, cost_usd: 2 } },
  });
  expect(reportWith({}, 5).usage).toMatchObject({ input_tokens: 5_000, output_tokens: 0 });
});
