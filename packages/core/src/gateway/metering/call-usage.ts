import { z } from "zod";
import type { TokenUsage } from "../token-usage.ts";
import { type PriceOverrides, rateOf, usdPerWebSearch, usOnlyFactor } from "./prices.ts";

/** What one model used within a call. */
export interface ModelCall {
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

export const noUsage: ModelCall = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_write_5m_tokens: 0,
  cache_write_1h_tokens: 0,
  web_searches: 0,
  fast: false,
  us_only: false,
};

/** With what it cost. */
export interface PricedCall extends ModelCall {
  usd: number;
}

export interface PricedCalls {
  parts: PricedCall[];
  /** Models that no price matched. */
  unknownModels: string[];
}

/** A call may use a second model: the advisor tool does. */
export function priceCall(
  parts: readonly ModelCall[],
  overrides: PriceOverrides = {},
): PricedCalls {
  const priced: PricedCalls = { parts: [], unknownModels: [] };
  for (const part of parts) {
    const { usd, isKnown } = costOfModel(part, overrides);
    priced.parts.push({ ...part, usd });
    if (!isKnown) priced.unknownModels.push(part.model ?? "(none)");
  }
  return priced;
}

function costOfModel(
  used: ModelCall,
  overrides?: PriceOverrides,
): { usd: number; isKnown: boolean } {
  const { input_tokens, output_tokens, cache_read_input_tokens, fast } = used;
  const { cache_write_5m_tokens, cache_write_1h_tokens } = used;
  const promptTokens =
    input_tokens + cache_read_input_tokens + cache_write_5m_tokens + cache_write_1h_tokens;
  const { rate, isKnown } = rateOf(used.model, { fast, promptTokens }, overrides);
  const perMillion =
    input_tokens * rate.input +
    output_tokens * rate.output +
    cache_read_input_tokens * rate.cacheRead +
    cache_write_5m_tokens * rate.cacheWrite5m +
    cache_write_1h_tokens * rate.cacheWrite1h;
  const usd = (perMillion / 1e6) * (used.us_only ? usOnlyFactor : 1);
  return { usd: usd + used.web_searches * usdPerWebSearch, isKnown };
}

export function tokensOf(used: ModelCall): TokenUsage {
  return {
    input_tokens: used.input_tokens,
    output_tokens: used.output_tokens,
    cache_creation_input_tokens: used.cache_write_5m_tokens + used.cache_write_1h_tokens,
    cache_read_input_tokens: used.cache_read_input_tokens,
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

const count = z.number().nonnegative().catch(0).default(0);
const counts = {
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation: z.object({ ephemeral_1h_input_tokens: count }).optional().catch(undefined),
};

const advisorCall = z.object({
  ...counts,
  type: z.literal("advisor_message"),
  model: z.string(),
});

const usageShape = z.object({
  ...counts,
  server_tool_use: z.object({ web_search_requests: count }).optional().catch(undefined),
  speed: z.string().optional().catch(undefined),
  inference_geo: z.string().optional().catch(undefined),
  iterations: z.array(z.unknown()).optional().catch(undefined),
});

/** The `usage` object of an answer, or of its events merged into one. */
export function readUsage(model: string | undefined, usage: unknown): ModelCall[] {
  const read = usageShape.safeParse(usage);
  if (!read.success) return [];
  const { server_tool_use, speed, inference_geo, iterations = [] } = read.data;
  const main: ModelCall = {
    ...usedTokens(model, read.data),
    web_searches: server_tool_use?.web_search_requests ?? 0,
    fast: speed === "fast",
    us_only: inference_geo === "us",
  };
  const advisors = iterations.flatMap((one) => advisorCall.safeParse(one).data ?? []);
  return [main, ...advisors.map((one) => usedTokens(one.model, one))];
}

function usedTokens(
  model: string | undefined,
  used: Pick<z.infer<typeof usageShape>, keyof typeof counts>,
): ModelCall {
  const written = used.cache_creation_input_tokens;
  const oneHour = Math.min(written, used.cache_creation?.ephemeral_1h_input_tokens ?? 0);
  return {
    ...noUsage,
    model,
    input_tokens: used.input_tokens,
    output_tokens: used.output_tokens,
    cache_read_input_tokens: used.cache_read_input_tokens,
    cache_write_5m_tokens: written - oneHour,
    cache_write_1h_tokens: oneHour,
  };
}
