import { totalTokens } from "../gateway/metering/call-usage.ts";
import type { Spending } from "../gateway/metering/spending.ts";
import type { TokenUsage } from "../gateway/token-usage.ts";
import type { Usage } from "../state/usage.ts";
import type { ModelUsageSeen } from "./evidence.ts";

/** What claude counted over the whole life of a session. */
export interface SessionTotals {
  costUsd: number;
  models: Record<string, ModelUsageSeen>;
}

export interface Spent {
  costUsd: number;
  usage: Usage;
}

/**
 * What a run added. The newer binary goes on counting where the session stood, over resume and
 * fork; the older one begins at nothing: a total below what stood before is such a new count.
 */
export function spentSince(before: SessionTotals | undefined, after: SessionTotals): Spent {
  const goesOn = before !== undefined && after.costUsd >= before.costUsd;
  const base = goesOn ? before.models : {};
  const models = Object.fromEntries(
    Object.entries(after.models)
      .map(([model, seen]) => [model, difference(seen, base[model])] as const)
      .filter(([, one]) => Object.values(one).some((amount) => amount > 0)),
  );
  return {
    costUsd: rounded(goesOn ? after.costUsd - before.costUsd : after.costUsd),
    usage: { ...sum(Object.values(models)), models },
  };
}

/**
 * The larger of what `claude` reported and what the gateway metered: tools call the API themselves,
 * a `claude` that was killed reports nothing, and its output can be forged in a container.
 */
export function recordedCost(
  reported: Spent | undefined,
  metered: Spending | undefined,
): { cost_usd: number | null; usage: Usage | null } {
  const counted = metered && totalTokens(metered.usage) > 0 ? meteredUsage(metered) : undefined;
  if (!reported || !counted || !metered) {
    const usage = reported?.usage ?? counted ?? null;
    return { cost_usd: reported?.costUsd ?? (counted ? rounded(metered?.usd ?? 0) : null), usage };
  }
  const isMore = totalTokens(counted) > totalTokens(reported.usage);
  return {
    cost_usd: Math.max(reported.costUsd, rounded(metered.usd)),
    usage: isMore ? counted : reported.usage,
  };
}

function meteredUsage({ usage, byModel }: Spending): Usage {
  const models = Object.entries(byModel).map(([model, { usd, ...tokens }]) => [
    model,
    { ...wholeTokens(tokens), cost_usd: rounded(usd) },
  ]);
  return { ...wholeTokens(usage), models: Object.fromEntries(models) };
}

/** An API other than Anthropic's may count in fractions; the record does not. */
function wholeTokens(tokens: TokenUsage): TokenUsage {
  return {
    input_tokens: Math.round(tokens.input_tokens),
    output_tokens: Math.round(tokens.output_tokens),
    cache_creation_input_tokens: Math.round(tokens.cache_creation_input_tokens),
    cache_read_input_tokens: Math.round(tokens.cache_read_input_tokens),
  };
}

type ModelUsage = Usage["models"][string];

function difference(after: ModelUsageSeen, before?: ModelUsageSeen): ModelUsage {
  const less = (key: keyof ModelUsageSeen) => Math.max(0, (after[key] ?? 0) - (before?.[key] ?? 0));
  return {
    input_tokens: less("inputTokens"),
    output_tokens: less("outputTokens"),
    cache_read_input_tokens: less("cacheReadInputTokens"),
    cache_creation_input_tokens: less("cacheCreationInputTokens"),
    cost_usd: rounded(less("costUSD")),
  };
}

function sum(all: ModelUsage[]) {
  const total = (key: keyof ModelUsage) => all.reduce((amount, one) => amount + one[key], 0);
  return {
    input_tokens: total("input_tokens"),
    output_tokens: total("output_tokens"),
    cache_read_input_tokens: total("cache_read_input_tokens"),
    cache_creation_input_tokens: total("cache_creation_input_tokens"),
  };
}

/** Differences of floating point sums end in noise; a millionth of a cent is exact enough. */
function rounded(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}
