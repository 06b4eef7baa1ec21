import { addTokens, noTokens, type TokenUsage } from "../token-usage.ts";
import { type PricedCall, tokensOf, totalTokens } from "./call-usage.ts";
import type { Amount } from "./decide-call.ts";

/** What the calls of one run came to. */
export interface Spending {
  usd: number;
  usage: TokenUsage;
  byModel: Record<string, TokenUsage & { usd: number }>;
}

export const noSpending: Spending = { usd: 0, usage: noTokens, byModel: {} };

export function addCalls(before: Spending, calls: Iterable<PricedCall>): Spending {
  const sum: Spending = { ...before, byModel: { ...before.byModel } };
  for (const call of calls) {
    const tokens = tokensOf(call);
    const model = call.model ?? "unknown";
    const known = sum.byModel[model] ?? { ...noTokens, usd: 0 };
    sum.usd += call.usd;
    sum.usage = addTokens(sum.usage, tokens);
    sum.byModel[model] = { ...addTokens(known, tokens), usd: known.usd + call.usd };
  }
  return sum;
}

export function amountOf(calls: Iterable<PricedCall>): Amount {
  const amount = { usd: 0, tokens: 0 };
  for (const call of calls) {
    amount.usd += call.usd;
    amount.tokens += totalTokens(tokensOf(call));
  }
  return amount;
}
