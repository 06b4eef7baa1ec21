import { expect, test } from "vitest";
import {
  type RunInFlight,
  type SpendFacts,
  sharedLimits,
} from "../../packages/core/src/jobs/attempts/spend-limits.ts";
import { type DailySpending, zeroAmounts } from "../../packages/protocol/src/records/spending.ts";

const unspent: DailySpending = { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts };

function run(jobId: string, usd: number, more: Partial<RunInFlight> = {}): RunInFlight {
  return { jobId, agent: "one", chainId: jobId, spent: { usd, tokens: usd * 1_000 }, ...more };
}

const own = run("own", 1);

function spendFacts(more: Partial<SpendFacts> = {}): SpendFacts {
  const spending = { agents: new Map([["one", unspent]]), fleet: unspent };
  return { run: own, budgets: { fleet: {}, agent: {} }, spending, inFlight: [own], ...more };
}

function ceilings(more: Partial<SpendFacts>): Record<string, number> {
  const limits = sharedLimits(spendFacts(more));
  return Object.fromEntries(limits.map(({ key, scope, ceiling }) => [`${scope} ${key}`, ceiling]));
}

test.each<[what: string, more: Partial<SpendFacts>, expected: Record<string, number>]>([
  ["sets no ceiling without limits", {}, {}],
  [
    "adds the run's own spending to the rest of the day's dollars",
    { budgets: { fleet: { daily_usd: 10 }, agent: {} } },
    { "fleet budget.daily_usd": 10 },
  ],
  [
    "subtracts what other runs have spent",
    {
      budgets: { fleet: { daily_usd: 10, daily_tokens: 9_000 }, agent: { daily_usd: 5 } },
      inFlight: [own, run("a", 2), run("b", 3, { agent: "two" })],
    },
    {
      "agent budget.daily_usd": 3,
      "fleet budget.daily_usd": 5,
      "fleet budget.daily_tokens": 4_000,
    },
  ],
  [
    "subtracts recorded costs and adds a raise",
    {
      budgets: { fleet: {}, agent: { daily_usd: 10 } },
      spending: {
        agents: new Map([["one", { ...unspent, usd: 4, raised: { ...zeroAmounts, usd: 1 } }]]),
        fleet: unspent,
      },
    },
    { "agent budget.daily_usd": 7 },
  ],
  [
    "subtracts recorded and running runs of a chain",
    {
      run: { ...own, chainId: "first" },
      chain: { limit: 5, usd: 1 },
      inFlight: [run("first", 2), run("other", 9)],
    },
    { "chain chain.max_cost_usd": 2 },
  ],
  [
    "leaves nothing when more is spent than allowed",
    { budgets: { fleet: { daily_usd: 1 }, agent: {} }, inFlight: [run("a", 2)] },
    { "fleet budget.daily_usd": 0 },
  ],
])("%s", (_, more, expected) => {
  expect(ceilings(more)).toEqual(expected);
});
