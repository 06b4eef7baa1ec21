import type { Usage } from "@herdctl/protocol";
import { type SessionHome, sessionFilePath } from "../../claude/session-files/session-file-path.ts";
import { readTranscript } from "../../claude/session-files/transcript.ts";
import type { TokenUsage } from "../../claude/token-usage.ts";
import type { RunOrder } from "../contract/run-order.ts";
import { modelTotalsSchema } from "../contract/run-report.ts";
import { totalTokens } from "../gateway/metering/call-usage.ts";
import type { Spending } from "../gateway/metering/spending.ts";
import type { ModelUsageTotals } from "./evidence.ts";

/** Claude's totals over the whole session. */
export interface SessionTotals {
  costUsd: number;
  models: Record<string, ModelUsageTotals>;
}

export interface RunCost {
  costUsd: number;
  usage: Usage;
}

/**
 * The cost that a run added. Newer binaries continue the session's totals after resume and fork;
 * older ones start at zero, which shows in a total below the previous one.
 */
export function costSince(before: SessionTotals | undefined, after: SessionTotals): RunCost {
  const continuesCount = before !== undefined && after.costUsd >= before.costUsd;
  const base = continuesCount ? before.models : {};
  const models = Object.fromEntries(
    Object.entries(after.models)
      .map(([model, modelTotals]) => [model, subtractUsage(modelTotals, base[model])] as const)
      .filter(([, usage]) => Object.values(usage).some((amount) => amount > 0)),
  );
  return {
    costUsd: roundUsd(continuesCount ? after.costUsd - before.costUsd : after.costUsd),
    usage: { ...sumUsage(Object.values(models)), models },
  };
}

/**
 * The larger of reported and metered cost: tools can call the API directly, a killed `claude` reports
 * nothing, and its output can be forged in a container.
 */
export function combineCost(
  reported: RunCost | undefined,
  metered: Spending | undefined,
): { cost_usd: number | null; usage: Usage | null } {
  const counted = metered && totalTokens(metered.usage) > 0 ? meteredUsage(metered) : undefined;
  if (!reported || !counted || !metered) {
    const usage = reported?.usage ?? counted ?? null;
    return { cost_usd: reported?.costUsd ?? (counted ? roundUsd(metered?.usd ?? 0) : null), usage };
  }
  const isMore = totalTokens(counted) > totalTokens(reported.usage);
  return {
    cost_usd: /* defence: larger-cost */ Math.max(reported.costUsd, roundUsd(metered.usd)),
    usage: isMore ? counted : reported.usage,
  };
}

function meteredUsage({ usage, byModel }: Spending): Usage {
  const models = Object.entries(byModel).map(([model, { usd, ...tokens }]) => [
    model,
    { ...wholeTokens(tokens), cost_usd: roundUsd(usd) },
  ]);
  return { ...wholeTokens(usage), models: Object.fromEntries(models) };
}

/** Other APIs may report fractions of tokens; the record only has integers. */
function wholeTokens(tokens: TokenUsage): TokenUsage {
  return {
    input_tokens: Math.round(tokens.input_tokens),
    output_tokens: Math.round(tokens.output_tokens),
    cache_creation_input_tokens: Math.round(tokens.cache_creation_input_tokens),
    cache_read_input_tokens: Math.round(tokens.cache_read_input_tokens),
  };
}

type ModelUsage = Usage["models"][string];

function subtractUsage(after: ModelUsageTotals, before?: ModelUsageTotals): ModelUsage {
  const subtract = (key: keyof ModelUsageTotals) =>
    Math.max(0, (after[key] ?? 0) - (before?.[key] ?? 0));
  return {
    input_tokens: subtract("inputTokens"),
    output_tokens: subtract("outputTokens"),
    cache_read_input_tokens: subtract("cacheReadInputTokens"),
    cache_creation_input_tokens: subtract("cacheCreationInputTokens"),
    cost_usd: roundUsd(subtract("costUSD")),
  };
}

function sumUsage(all: ModelUsage[]) {
  const total = (key: keyof ModelUsage) => all.reduce((amount, usage) => amount + usage[key], 0);
  return {
    input_tokens: total("input_tokens"),
    output_tokens: total("output_tokens"),
    cache_read_input_tokens: total("cache_read_input_tokens"),
    cache_creation_input_tokens: total("cache_creation_input_tokens"),
  };
}

/** Removes floating-point noise; a millionth of a cent is precise enough. */
function roundUsd(usd: number): number {
  return Math.round(usd * 1e8) / 1e8;
}

/** The session's totals before the run; a fork starts with those of its parent. */
export async function readTotalsBefore(
  order: Pick<RunOrder, "session"> & SessionHome,
  startedAt?: Date,
): Promise<SessionTotals | undefined> {
  const { session } = order;
  if (session.kind === "fresh") return undefined;
  const id = session.kind === "fork" ? session.from : session.sessionId;
  const { cost } = await readTranscript(sessionFilePath(order, id), startedAt);
  const models = modelTotalsSchema.safeParse(cost?.modelUsage);
  return cost && { costUsd: cost.totalCostUsd, models: models.success ? models.data : {} };
}
