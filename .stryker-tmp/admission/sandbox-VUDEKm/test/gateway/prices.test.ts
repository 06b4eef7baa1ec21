import { describe, expect, test } from "vitest";
import {
  parseUsage,
  priceUsage,
} from "../../packages/core/src/runner/gateway/metering/call-usage.ts";
import { findRate } from "../../packages/core/src/runner/gateway/metering/prices.ts";
import { startHarness } from "../support/harness.ts";
import { createMeter, startGatewayTo } from "./upstream-stand-in.ts";

const plain = { fast: false, promptTokens: 1_000 };

test.each<[model: string, input: number, output: number]>([
  ["claude-opus-5-5", 4, 20],
  ["claude-opus-5", 5, 25],
  ["claude-opus-5-20260301", 5, 25],
  ["claude-opus-4-8", 5, 25],
  ["claude-opus-4-5-20251101", 5, 25],
  ["claude-opus-4-1-20250805", 15, 75],
  ["claude-opus-4-20250514", 15, 75],
  ["us.anthropic.claude-opus-4-6-v1", 5, 25],
  ["claude-sonnet-5-5", 2, 10],
  ["claude-sonnet-5", 2, 10],
  ["claude-sonnet-4-20250514", 3, 15],
  ["claude-haiku-5-5", 0.1, 0.5],
  ["claude-haiku-4-5-20251001", 1, 5],
  ["claude-fable-5-2", 8, 40],
  ["claude-mythos-5", 10, 50],
])("prices %s at $%d and $%d per million tokens", (model, input, output) => {
  expect(findRate(model, plain)).toMatchObject({ rate: { input, output }, isKnown: true });
});

test.each(["claude-opus-6", "claude-opus-5-6", "gpt-x", undefined])(
  "prices an unknown model (%s) at the highest known rate",
  (model) => {
    const priced = findRate(model, plain);
    expect(priced).toMatchObject({ rate: { input: 15, output: 75 }, isKnown: false });
    const own = { "local-*": { input: 100, output: 1 } };
    expect(findRate(model, plain, own).rate).toMatchObject({ input: 100, output: 75 });
  },
);

test("replaces list prices by prices of the fleet file, the longest pattern first", () => {
  const own = {
    "claude-*": { input: 1, output: 2 },
    "claude-opus-5*": { input: 3, output: 4, cache_read: 0.5, cache_write: 6 },
  };
  expect(findRate("claude-opus-5-5", plain, own).rate).toEqual({
    input: 3,
    output: 4,
    cacheRead: 0.5,
    cacheWrite5m: 6,
    cacheWrite1h: 6,
  });
  expect(findRate("claude-haiku-4-5", plain, own).rate).toMatchObject({ input: 1, cacheRead: 0.1 });
});

test.each<[what: string, usage: object, usd: number]>([
  ["input and output", { input_tokens: 1e6, output_tokens: 1e5 }, 6],
  ["cache reads", { cache_read_input_tokens: 1e6 }, 0.2],
  ["cache writes for five minutes", { cache_creation_input_tokens: 1e6 }, 5],
  [
    "cache writes for an hour",
    {
      cache_creation_input_tokens: 1e6,
      cache_creation: { ephemeral_1h_input_tokens: 1e6, ephemeral_5m_input_tokens: 0 },
    },
    8,
  ],
  ["web searches", { server_tool_use: { web_search_requests: 3 } }, 0.03],
  ["fast mode", { input_tokens: 1e6, speed: "fast" }, 8],
  ["processing in the US only", { input_tokens: 1e6, inference_geo: "us" }, 4.4],
  [
    "an advisor of another model",
    {
      input_tokens: 1e6,
      iterations: [
        { type: "message", input_tokens: 1e6 },
        { type: "advisor_message", model: "claude-fable-5", input_tokens: 1e6 },
      ],
    },
    14,
  ],
  ["invalid numbers", { input_tokens: "many", output_tokens: -5 }, 0],
])("prices %s", (_, usage, usd) => {
  const parts = priceUsage(parseUsage("claude-opus-5-5", usage));
  expect(parts.reduce((sum, part) => sum + part.usd, 0)).toBeCloseTo(usd, 9);
});

test("applies the long-prompt price of a model that has one", () => {
  const cost = (tokens: number) =>
    priceUsage(parseUsage("claude-haiku-5-5", { input_tokens: tokens }))[0]?.usd;
  expect(cost(100_000)).toBeCloseTo(0.01, 9);
  expect(cost(100_001)).toBeCloseTo(0.0500005, 9);
});

describe("comparison with the binary 2.1.325", () => {
  const usage = {
    input_tokens: 1_234,
    output_tokens: 5_678,
    cache_read_input_tokens: 9_012,
    cache_creation_input_tokens: 3_456,
  };

  test.each(["claude-opus-5-5", "claude-sonnet-4-6", "claude-haiku-5-5", "claude-fable-5-1"])(
    "meters %s at the cost that `claude` reports",
    async (model) => {
      const set = await startHarness({ script: { rules: [{ reply: { text: "Done.", usage } }] } });
      const meter = createMeter(set.root);
      const gateway = await startGatewayTo(set.rehearsal.url ?? "", { account: { meter } });
      const env = {
        ...set.env,
        ANTHROPIC_BASE_URL: gateway.baseUrl,
        ANTHROPIC_API_KEY: gateway.placeholder,
      };
      const run = await set.claude("325", ["hi", "--model", model], { env });
      expect(run.result?.total_cost_usd).toBeGreaterThan(0);
      expect(meter.spending.usd).toBeCloseTo(run.result?.total_cost_usd ?? 0, 9);
      expect(meter.spending.unknownModels).toEqual([]);
    },
  );
});
