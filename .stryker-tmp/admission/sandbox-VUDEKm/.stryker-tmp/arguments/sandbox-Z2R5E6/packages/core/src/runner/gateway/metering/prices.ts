import type { PriceOverride, PriceOverrides } from "../../contract/spend-limit.ts";

/**
 * List prices in US dollars per million tokens, as of 2026-11.
 *
 * Measured with `claude` 2.1.325 against a loopback API that reported 100,000 tokens of one kind at a
 * time, by reading `total_cost_usd`. `test/gateway/prices.test.ts` repeats this for some models.
 */
interface ListPrice {
  models: RegExp;
  input: number;
  output: number;
  /** Default: a tenth of `input`. */
  cacheRead?: number;
  /** Requests with `speed: "fast"`. */
  fast?: Omit<ListPrice, "models">;
  /** Requests with a prompt longer than `aboveTokens`. */
  longPrompt?: Omit<ListPrice, "models"> & { aboveTokens: number };
}

/** The first row whose pattern matches applies, so longer names come first. */
const listPrices: readonly ListPrice[] = [
  {
    models: /claude-opus-5-5(?!\d)/,
    ...{ input: 4, output: 20, cacheRead: 0.2 },
    fast: { input: 8, output: 40, cacheRead: 0.4 },
  },
  {
    models: /claude-opus-(5|4-8)(?!-?\d{1,2}(?!\d))/,
    ...{ input: 5, output: 25 },
    fast: { input: 10, output: 50 },
  },
  {
    models: /claude-opus-4-[67](?!\d)/,
    ...{ input: 5, output: 25 },
    fast: { input: 30, output: 150 },
  },
  { models: /claude-opus-4-5(?!\d)/, input: 5, output: 25 },
  { models: /claude-opus-4(?!-[2-9](?!\d))/, input: 15, output: 75 },
  { models: /claude-sonnet-5-5(?!\d)/, input: 2, output: 10, cacheRead: 0.1 },
  { models: /claude-sonnet-5(?!-\d{1,2}(?!\d))/, input: 2, output: 10 },
  { models: /claude-(sonnet-4|3-7-sonnet|3-5-sonnet)/, input: 3, output: 15 },
  {
    models: /claude-haiku-5-5(?!\d)/,
    ...{ input: 0.1, output: 0.5 },
    longPrompt: { aboveTokens: 100_000, input: 0.5, output: 2.5 },
  },
  { models: /claude-haiku-4-5(?!\d)/, input: 1, output: 5 },
  { models: /claude-3-5-haiku/, input: 0.8, output: 4 },
  {
    models: /claude-(fable|mythos)-5-2(?!\d)/,
    ...{ input: 8, output: 40, cacheRead: 0.2 },
    fast: { input: 16, output: 80, cacheRead: 0.4 },
  },
  { models: /claude-(fable|mythos)-5-1(?!\d)/, input: 10, output: 50, cacheRead: 0.25 },
  { models: /claude-(fable|mythos)-5(?!-\d{1,2}(?!\d))/, input: 10, output: 50 },
];

export const usdPerWebSearch = 0.01;
/** For requests processed only in the US (`inference_geo: us`). */
export const usOnlyFactor = 1.1;

const cacheReadFactor = 0.1;
const cacheWrite5mFactor = 1.25;
const cacheWrite1hFactor = 2;

/** US dollars per million tokens. */
interface Rate {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

export interface RateQuery {
  fast: boolean;
  promptTokens: number;
}

export interface RateLookup {
  rate: Rate;
  /** False if no row matched and the highest known rate was used. */
  isKnown: boolean;
}

/** The fleet file's price for a model, or the list price, or the highest known rate. */
export function findRate(
  model: string | undefined,
  request: RateQuery,
  overrides: PriceOverrides = {},
): RateLookup {
  const override = model === undefined ? undefined : overrideFor(model, overrides);
  if (override) return { rate: toOverrideRate(override), isKnown: true };
  const listed = listPrices.find(({ models }) => model !== undefined && models.test(model));
  if (!listed)
    return {
      rate: /* defence: unknown-model-price */ highestRate(request, overrides),
      isKnown: false,
    };
  const { fast, longPrompt } = listed;
  if (request.fast && fast) return { rate: toListRate(fast), isKnown: true };
  const isLongPrompt = longPrompt !== undefined && request.promptTokens > longPrompt.aboveTokens;
  return { rate: toListRate(isLongPrompt ? longPrompt : listed), isKnown: true };
}

/** The longest pattern is the most specific one. */
function overrideFor(model: string, overrides: PriceOverrides): PriceOverride | undefined {
  const matching = Object.entries(overrides).filter(([pattern]) => matchesPattern(pattern, model));
  return matching.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

function matchesPattern(pattern: string, model: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(model);
}

function toListRate({ input, output, cacheRead }: Omit<ListPrice, "models">): Rate {
  return {
    input,
    output,
    cacheRead: cacheRead ?? input * cacheReadFactor,
    cacheWrite5m: input * cacheWrite5mFactor,
    cacheWrite1h: input * cacheWrite1hFactor,
  };
}

function toOverrideRate(price: PriceOverride): Rate {
  const { input, output, cache_read, cache_write, cache_write_1h } = price;
  const cacheWrite5m = cache_write ?? input * cacheWrite5mFactor;
  return {
    input,
    output,
    cacheRead: cache_read ?? input * cacheReadFactor,
    cacheWrite5m,
    cacheWrite1h: cache_write_1h ?? Math.max(cacheWrite5m, input * cacheWrite1hFactor),
  };
}

function highestRate({ fast }: RateQuery, overrides: PriceOverrides): Rate {
  const listed = listPrices.flatMap((row) => (fast && row.fast ? [row, row.fast] : [row]));
  const rates = [...listed.map(toListRate), ...Object.values(overrides).map(toOverrideRate)];
  const highest = (key: keyof Rate) => Math.max(...rates.map((rate) => rate[key]));
  return {
    input: highest("input"),
    output: highest("output"),
    cacheRead: highest("cacheRead"),
    cacheWrite5m: highest("cacheWrite5m"),
    cacheWrite1h: highest("cacheWrite1h"),
  };
}
