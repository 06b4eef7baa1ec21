import { expect, test } from "vitest";
import { noUsage } from "../../packages/core/src/gateway/metering/call-usage.ts";
import { addCalls, noSpending } from "../../packages/core/src/gateway/metering/spending.ts";
import { noEvidence } from "../../packages/core/src/runner/evidence.ts";
import { makeReport, type ReportFacts } from "../../packages/core/src/runner/make-report.ts";

const metered = addCalls(noSpending, [
  { ...noUsage, model: "claude-opus-5-5", input_tokens: 1_000, output_tokens: 100, usd: 2 },
]);

function reportWith(more: Partial<ReportFacts>, costUsd?: number) {
  const inputTokens = costUsd === undefined ? 0 : costUsd * 1_000;
  const counts = { outputTokens: 0, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 };
  const modelUsage = { "claude-opus-5-5": { inputTokens, costUSD: costUsd ?? 0, ...counts } };
  const said = { subtype: "success", isError: false, errors: [], turns: 1, synthesised: false };
  const result = costUsd === undefined ? undefined : { ...said, costUsd, modelUsage };
  const now = new Date();
  return makeReport({
    order: { jobId: "job-1", attempt: 1, session: { sessionId: "s" }, claude: { version: null } },
    evidence: { ...noEvidence(), result },
    startedAt: now,
    finishedAt: now,
    totalsBefore: undefined,
    metered,
    credential: "api_key",
    metadata: undefined,
    handedIn: { report: null, artifacts: [] },
    warnings: [],
    ...more,
  });
}

test.each<[what: string, reported: number | undefined, more: Partial<ReportFacts>, usd: unknown]>([
  ["a forged result that says nothing was spent", 0, {}, 2],
  ["a result that says less than was metered", 1.5, {}, 2],
  ["a result that says more than was metered", 5, {}, 5],
  ["no result", undefined, {}, 2],
  ["no result and no calls", undefined, { metered: noSpending }, null],
  ["a result of a run without a gateway", 3, { metered: undefined }, 3],
  [
    "a session that had cost something before",
    5,
    { totalsBefore: { costUsd: 4.5, models: {} } },
    2,
  ],
])("the recorded cost with %s", (_, reported, more, usd) => {
  expect(reportWith(more, reported).cost_usd).toBe(usd);
});

test("the larger count of tokens is recorded, by model", () => {
  expect(reportWith({}, 0).usage).toMatchObject({
    input_tokens: 1_000,
    models: { "claude-opus-5-5": { output_tokens: 100, cost_usd: 2 } },
  });
  expect(reportWith({}, 5).usage).toMatchObject({ input_tokens: 5_000, output_tokens: 0 });
});
