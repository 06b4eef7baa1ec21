/**
 * List prices in US dollars per million tokens, as of 2026-11.
 *
 * Measured: the real `claude` 2.1.325 was run against a loopback API that reported 100,000 tokens
 * of one kind at a time, and its `total_cost_usd` was read. `test/gateway/prices.test.ts` repeats
 * that for some of the models.
 */
interface ListPrice {
  models: RegExp;
  input: number;
  output: number;
  /** A tenth of `input` unless given. */
  cacheRead?: number;
  /** Requests with `speed: "fast"`. */
  fast?: Omit<ListPrice, "models">;
  /** Requests whose whole prompt is longer than this. */
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
/** Requests that are processed in the US only (`inference_geo: us`). */
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

/** A price of the fleet file, by a model's name or a pattern with `*`. */
interface PriceOverride {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
  cache_write_1h?: number;
}

export type PriceOverrides = Readonly<Record<string, PriceOverride>>;

export interface PricedRequest {
  fast: boolean;
  promptTokens: number;
}

export interface Priced {
  rate: Rate;
  /** False when no row matched and the highest known rate was taken. */
  isKnown: boolean;
}

/** The fleet file's price for a model, else the list price, else the highest known rate. */
export function rateOf(
  model: string | undefined,
  request: PricedRequest,
  overrides: PriceOverrides = {},
): Priced {
  const own = model === undefined ? undefined : overrideFor(model, overrides);
  if (own) return { rate: rateOfOverride(own), isKnown: true };
  const listed = listPrices.find(({ models }) => model !== undefined && models.test(model));
  if (!listed) return { rate: highestRate(request, overrides), isKnown: false };
  const { fast, longPrompt } = listed;
  if (request.fast && fast) return { rate: rateOfList(fast), isKnown: true };
  const isLong = longPrompt !== undefined && request.promptTokens > longPrompt.aboveTokens;
  return { rate: rateOfList(isLong ? longPrompt : listed), isKnown: true };
}

/** The longest pattern is the most specific one. */
function overrideFor(model: string, overrides: PriceOverrides): PriceOverride | undefined {
  const matching = Object.entries(overrides).filter(([pattern]) => matches(pattern, model));
  return matching.sort(([a], [b]) => b.length - a.length)[0]?.[1];
}

function matches(pattern: string, model: string): boolean {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`).test(model);
}

function rateOfList({ input, output, cacheRead }: Omit<ListPrice, "models">): Rate {
  return {
    input,
    output,
    cacheRead: cacheRead ?? input * cacheReadFactor,
    cacheWrite5m: input * cacheWrite5mFactor,
    cacheWrite1h: input * cacheWrite1hFactor,
  };
}

function rateOfOverride(price: PriceOverride): Rate {
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

function highestRate({ fast }: PricedRequest, overrides: PriceOverrides): Rate {
  const listed = listPrices.flatMap((row) => (fast && row.fast ? [row, row.fast] : [row]));
  const rates = [...listed.map(rateOfList), ...Object.values(overrides).map(rateOfOverride)];
  const highest = (key: keyof Rate) => Math.max(...rates.map((rate) => rate[key]));
  return {
    input: highest("input"),
    output: highest("output"),
    cacheRead: highest("cacheRead"),
    cacheWrite5m: highest("cacheWrite5m"),
    cacheWrite1h: highest("cacheWrite1h"),
  };
}
