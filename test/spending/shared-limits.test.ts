import { expect, test } from "vitest";
import {
  type RunInFlight,
  type SpendFacts,
  sharedLimits,
} from "../../packages/core/src/fleet/spend-limits.ts";
import { nothing, type Spent } from "../../packages/core/src/state/spending.ts";

const unspent: Spent = { ...nothing, reserved_usd: 0, raised: nothing };

function run(jobId: string, usd: number, more: Partial<RunInFlight> = {}): RunInFlight {
  return { jobId, agent: "one", chainId: jobId, spent: { usd, tokens: usd * 1_000 }, ...more };
}

const own = run("own", 1);

function facts(more: Partial<SpendFacts> = {}): SpendFacts {
  const spending = { agents: new Map([["one", unspent]]), fleet: unspent };
  return { run: own, budgets: { fleet: {}, agent: {} }, spending, inFlight: [own], ...more };
}

function ceilings(more: Partial<SpendFacts>): Record<string, number> {
  const limits = sharedLimits(facts(more));
  return Object.fromEntries(limits.map(({ key, scope, ceiling }) => [`${scope} ${key}`, ceiling]));
}

test.each<[what: string, more: Partial<SpendFacts>, expected: Record<string, number>]>([
  ["nothing is limited", {}, {}],
  [
    "a day's dollars: what the run has spent itself is part of its ceiling",
    { budgets: { fleet: { daily_usd: 10 }, agent: {} } },
    { "fleet budget.daily_usd": 10 },
  ],
  [
    "what other runs have spent is gone",
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
    "what is on record is gone, what was raised is there",
    {
      budgets: { fleet: {}, agent: { daily_usd: 10 } },
      spending: {
        agents: new Map([["one", { ...unspent, usd: 4, raised: { ...nothing, usd: 1 } }]]),
        fleet: unspent,
      },
    },
    { "agent budget.daily_usd": 7 },
  ],
  [
    "a chain: its recorded runs, and those that run",
    {
      run: { ...own, chainId: "first" },
      chain: { limit: 5, usd: 1 },
      inFlight: [run("first", 2), run("other", 9)],
    },
    { "chain chain.max_cost_usd": 2 },
  ],
  [
    "more is spent than there was",
    { budgets: { fleet: { daily_usd: 1 }, agent: {} }, inFlight: [run("a", 2)] },
    { "fleet budget.daily_usd": 0 },
  ],
])("%s", (_, more, expected) => {
  expect(ceilings(more)).toEqual(expected);
});
