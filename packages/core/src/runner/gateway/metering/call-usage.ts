import { z } from "zod";
import { addTokens, noTokens, type TokenUsage } from "../../../claude/token-usage.ts";
import type { PriceOverrides, SpendAmount } from "../../contract/spend-limit.ts";
import { findRate, usdPerWebSearch, usOnlyFactor } from "./prices.ts";

/** The usage of one model within a call. */
export interface ModelUsage {
  model?: string;
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_write_5m_tokens: number;
  cache_write_1h_tokens: number;
  web_searches: number;
  fast: boolean;
  us_only: boolean;
}

export const noUsage: ModelUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  web_searches: 0,
  fast: false,
  us_only: false,
};

/** Usage with its cost. */
export interface PricedUsage extends ModelUsage {
  usd: number;
  /** No price matched the model, so the highest known rate was used. */
  unknown_price?: true;
}

/** A call may use a second model, for example through the advisor tool. */
export function priceUsage(
  usages: readonly ModelUsage[],
  overrides: PriceOverrides = {},
): PricedUsage[] {
  return usages.map((usage) => {
    const { usd, isKnown } = costOf(usage, overrides);
    return { ...usage, usd, ...(!isKnown && { unknown_price: true }) };
  });
}

function costOf(usage: ModelUsage, overrides?: PriceOverrides): { usd: number; isKnown: boolean } {
  const { input_tokens, output_tokens, cache_read_input_tokens, fast } = usage;
  const { cache_write_5m_tokens, cache_write_1h_tokens } = usage;
  const promptTokens =
    input_tokens + cache_read_input_tokens + cache_write_5m_tokens + cache_write_1h_tokens;
  const { rate, isKnown } = findRate(usage.model, { fast, promptTokens }, overrides);
  const usdTimesMillion =
    input_tokens * rate.input +
    output_tokens * rate.output +
    cache_read_input_tokens * rate.cacheRead +
    cache_write_5m_tokens * rate.cacheWrite5m +
    cache_write_1h_tokens * rate.cacheWrite1h;
  const usd = (usdTimesMillion / 1e6) * (usage.us_only ? usOnlyFactor : 1);
  return { usd: usd + usage.web_searches * usdPerWebSearch, isKnown };
}

function tokensOf(usage: ModelUsage): TokenUsage {
  return {
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_creation_input_tokens: usage.cache_write_5m_tokens + usage.cache_write_1h_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
  };
}

export function totalTokens(tokens: TokenUsage): number {
  return (
    tokens.input_tokens +
    tokens.output_tokens +
    tokens.cache_creation_input_tokens +
    tokens.cache_read_input_tokens
  );
}

const countSchema = z.number().nonnegative().catch(0).default(0);
const tokenCountFields = {
  input_tokens: countSchema,
  output_tokens: countSchema,
  cache_creation_input_tokens: countSchema,
  cache_read_input_tokens: countSchema,
  cache_creation: z.object({ ephemeral_1h_input_tokens: countSchema }).optional().catch(undefined),
};

const advisorCallSchema = z.object({
  ...tokenCountFields,
  type: z.literal("advisor_message"),
  model: z.string(),
});

const usageSchema = z.object({
  ...tokenCountFields,
  server_tool_use: z.object({ web_search_requests: countSchema }).optional().catch(undefined),
  speed: z.string().optional().catch(undefined),
  inference_geo: z.string().optional().catch(undefined),
  iterations: z.array(z.unknown()).optional().catch(undefined),
});

/** Parses the `usage` object of a response, or its merged stream events. */
export function parseUsage(model: string | undefined, usage: unknown): ModelUsage[] {
  const parsed = usageSchema.safeParse(usage);
  if (!parsed.success) return [];
  const { server_tool_use, speed, inference_geo, iterations = [] } = parsed.data;
  const main: ModelUsage = {
    ...toModelUsage(model, parsed.data),
    web_searches: server_tool_use?.web_search_requests ?? 0,
    fast: speed === "fast",
    us_only: inference_geo === "us",
  };
  const advisors = iterations.flatMap(
    (iteration) => advisorCallSchema.safeParse(iteration).data ?? [],
  );
  return [main, ...advisors.map((advisor) => toModelUsage(advisor.model, advisor))];
}

function toModelUsage(
  model: string | undefined,
  usage: Pick<z.infer<typeof usageSchema>, keyof typeof tokenCountFields>,
): ModelUsage {
  const cacheWriteTokens = usage.cache_creation_input_tokens;
  const oneHourTokens = Math.min(
    cacheWriteTokens,
    usage.cache_creation?.ephemeral_1h_input_tokens ?? 0,
  );
  return {
    ...noUsage,
    model,
    input_tokens: usage.input_tokens,
    output_tokens: usage.output_tokens,
    cache_read_input_tokens: usage.cache_read_input_tokens,
    cache_write_5m_tokens: cacheWriteTokens - oneHourTokens,
    cache_write_1h_tokens: oneHourTokens,
  };
}

/** Total spending of the calls of one run. */
export interface Spending {
  usd: number;
  usage: TokenUsage;
  byModel: Record<string, TokenUsage & { usd: number }>;
  /** Models without a matching price. */
  unknownModels: readonly string[];
}

export const noSpending: Spending = { usd: 0, usage: noTokens, byModel: {}, unknownModels: [] };

export function addPricedUsage(before: Spending, calls: Iterable<PricedUsage>): Spending {
  const sum: Spending = { ...before, byModel: { ...before.byModel } };
  const unknownModels = new Set(before.unknownModels);
  for (const call of calls) {
    const tokens = tokensOf(call);
    const model = call.model ?? "unknown";
    const existing = sum.byModel[model] ?? { ...noTokens, usd: 0 };
    sum.usd += call.usd;
    sum.usage = addTokens(sum.usage, tokens);
    sum.byModel[model] = { ...addTokens(existing, tokens), usd: existing.usd + call.usd };
    if (call.unknown_price) unknownModels.add(call.model ?? "(none)");
  }
  return { ...sum, unknownModels: [...unknownModels] };
}

export function totalAmount(calls: Iterable<PricedUsage>): SpendAmount {
  const amount = { usd: 0, tokens: 0 };
  for (const call of calls) {
    amount.usd += call.usd;
    amount.tokens += totalTokens(tokensOf(call));
  }
  return amount;
}
