import { addTokens, noTokens, type TokenUsage } from "../../../claude/token-usage.ts";
import type { SpendAmount } from "../../contract/spend-limit.ts";
import { type PricedUsage, tokensOf, totalTokens } from "./call-usage.ts";

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
