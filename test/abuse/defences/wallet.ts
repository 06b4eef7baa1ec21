import type { Defence } from "../defence.ts";

const chain = "packages/core/src/queue/decide-chain.ts";
const spendTest = "test/gateway/spend-limits.test.ts";
const limitsTest = "test/herd-tools/chain-limits.test.ts";

export const walletDefences: readonly Defence[] = [
  {
    name: "a chain must not come back to an agent of its own",
    guards: "the wallet, against agents in a circle",
    edit: { file: chain, from: "chain.agents.includes(agent)", to: 'chain.agents.includes("")' },
    red: { file: limitsTest, test: "to an agent of its own path" },
  },
  {
    name: "a chain has a depth",
    guards: "the wallet, against work that is handed on and on",
    edit: { file: chain, from: "chain.depth > limits.max_depth", to: "chain.depth < 0" },
    red: { file: limitsTest, test: "once too often" },
  },
  {
    name: "a chain has so many jobs",
    guards: "the wallet, against an agent that hands out many",
    edit: { file: chain, from: "jobs >= limits.max_jobs", to: "jobs < 0" },
    red: { file: limitsTest, test: "as the eleventh job" },
  },
  {
    name: "a chain has so many dollars",
    guards: "the wallet, against a chain as a whole",
    edit: {
      file: chain,
      from: "limits.max_cost_usd - usd < Math.max(reserve, smallest)",
      to: "limits.max_cost_usd + usd < Math.max(reserve, smallest)",
    },
    red: { file: limitsTest, test: "with nothing left" },
  },
  {
    name: "an agent triggers whom it may",
    guards: "other agents",
    edit: {
      file: chain,
      from: "isAllowed\n      ? undefined",
      to: "isAllowed || agent\n      ? undefined",
    },
    red: { file: limitsTest, test: "to an agent it may not trigger" },
  },
  {
    name: "a day has a budget",
    guards: "the wallet",
    edit: {
      file: "packages/core/src/queue/budget.ts",
      from: "if (limit !== undefined && left < Math.max(wants, atLeast)) {",
      to: "if (limit !== undefined && left < Math.min(wants, atLeast) - limit) {",
    },
    red: {
      file: "test/abuse/wallet.test.ts",
      test: "no more jobs run than the budget of the day has",
    },
  },
  {
    name: "what a job may cost is held while it runs",
    guards: "the wallet, against many at once",
    edit: {
      file: "packages/core/src/queue/budget.ts",
      from: "usd: { used: spent.usd + spent.reserved_usd,",
      to: "usd: { used: spent.usd,",
    },
    red: { file: "test/queue/budgets.test.ts", test: "a budget counts what is held" },
  },
  {
    name: "the same key is the same job",
    guards: "the wallet, against deliveries that are sent again",
    edit: {
      file: "packages/core/src/triggers/webhook/delivery-keys.ts",
      from: "if (id) return { key: `${scope}:${plain(id)}` };",
      to: "if (id) return { key: `${scope}:${plain(id)}-${Math.random()}` };",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "a delivery that is sent once more" },
  },
  {
    name: "a webhook takes so many a minute",
    guards: "the wallet, against a flood that is signed",
    edit: {
      file: "packages/core/src/triggers/webhook/rate-limit.ts",
      from: "const isRoom = tokens >= 1;",
      to: "const isRoom = tokens >= -Infinity;",
    },
    red: { file: "test/webhooks/abuse.test.ts", test: "more than the schedule takes in a minute" },
  },
  {
    name: "a job that fails comes to its end",
    guards: "the wallet, against retries without end",
    edit: {
      file: "packages/core/src/runner/next-step.ts",
      from: 'if (failures + 1 >= retry.max_attempts) return { kind: "finish", outcome };',
      to: "",
    },
    red: { file: "test/queue/next-step.test.ts", test: "a job that only fails comes to its end" },
  },
  {
    name: "a job that takes its runner down is set aside",
    guards: "the wallet, against a job that kills whoever runs it",
    edit: {
      file: "packages/core/src/runner/next-step.ts",
      from: "if (crashes >= mostCrashes)",
      to: "if (crashes >= mostCrashes * 100)",
    },
    red: {
      file: "test/queue/next-step.test.ts",
      test: "a job that is set aside tells how it came",
    },
  },
  {
    name: "a refused credential is not tried again",
    guards: "the account, against being locked",
    edit: {
      file: "packages/core/src/runner/next-step.ts",
      from: 'if (retry === "person") return { kind: "pause", outcome };',
      to: 'if (retry === "person") return tryAgain(facts);',
    },
    red: {
      file: "test/queue/next-step.test.ts",
      test: "a credential that is refused needs a person",
    },
  },
  {
    name: "a refused credential holds back all who share it",
    guards: "the account, against being locked",
    edit: {
      file: "packages/core/src/fleet/agent-pauses.ts",
      from: 'if (code !== "auth_failed" && code !== "billing") return;',
      to: 'if (code !== "billing") return;',
    },
    red: {
      file: "test/fleet/fleet-manager.test.ts",
      test: "a refused credential fails one job",
    },
  },
  {
    name: "an overloaded API holds the fleet back",
    guards: "the wallet and the API, against many who try again",
    edit: {
      file: "packages/core/src/queue/slow-down.ts",
      from: "Math.min(longest, previous.delay * 2)",
      to: "Math.min(longest, previous.delay)",
    },
    red: { file: "test/queue/slow-down.test.ts", test: "one that fails afterwards doubles it" },
  },
  {
    name: "an agent plans so many runs of its own",
    guards: "the wallet, against an agent that keeps itself busy",
    edit: {
      file: "packages/core/src/triggers/schedule/decide-plan.ts",
      from: "if (open >= at_most) return ask",
      to: "if (open < 0) return ask",
    },
    red: {
      file: "test/herd-tools/schedule.test.ts",
      test: "no more are free than it may have",
    },
  },
  {
    name: "the gateway refuses calls beyond a limit",
    guards: "the wallet, against tools that call the API themselves",
    edit: {
      file: "packages/core/src/gateway/metering/decide-call.ts",
      from: 'if (reached) return { kind: "refuse", limit: reached };',
      to: "",
    },
    red: { file: spendTest, test: "calls beyond the limit are refused" },
  },
  {
    name: "concurrent calls cannot share what is left for one",
    guards: "the wallet, against many calls at the same time",
    edit: {
      file: "packages/core/src/gateway/metering/decide-call.ts",
      from: "return mayBeReached && callsInFlight > 0",
      to: "return mayBeReached && callsInFlight < 0",
    },
    red: { file: spendTest, test: "five concurrent calls cannot share" },
  },
  {
    name: "a call that breaks off is paid for",
    guards: "the wallet, against clients that hang up",
    edit: {
      file: "packages/core/src/gateway/metering/estimate.ts",
      from: "if (isComplete) return told;",
      to: "if (isComplete || ending) return told;",
    },
    red: { file: spendTest, test: "a call that breaks off is not free" },
  },
  {
    name: "a call is on record before it is forwarded",
    guards: "the wallet, against a runner that is killed",
    edit: {
      file: "packages/core/src/gateway/metering/spend-meter.ts",
      from: "    this.log.append({",
      to: "    if (call.isSettled) this.log.append({",
    },
    red: { file: spendTest, test: "a call is on record before the API sees it" },
  },
  {
    name: "no calls pass between two turns",
    guards: "the wallet, against what a turn left behind",
    edit: {
      file: "packages/core/src/gateway/metering/admit-call.ts",
      from: 'if (!meter) return { kind: "refuse", status: 400, reason: "no turn of this run is under way" };',
      to: 'if (!meter) return { kind: "gone" };',
    },
    red: { file: spendTest, test: "nothing is spent between two turns" },
  },
  {
    name: "a model without a price costs the highest known price",
    guards: "the wallet, against models that the price list does not have",
    edit: {
      file: "packages/core/src/gateway/metering/prices.ts",
      from: "if (!listed) return { rate: highestRate(request, overrides), isKnown: false };",
      to: "if (!listed) return { rate: rateOfOverride({ input: 0, output: 0 }), isKnown: false };",
    },
    red: { file: "test/gateway/prices.test.ts", test: "costs the highest known rate" },
  },
  {
    name: "the larger of reported and metered cost is recorded",
    guards: "the wallet, against a forged or missing result",
    edit: {
      file: "packages/core/src/runner/usage.ts",
      from: "cost_usd: Math.max(reported.costUsd, rounded(metered.usd)),",
      to: "cost_usd: reported.costUsd,",
    },
    red: { file: "test/spending/report.test.ts", test: "a forged result" },
  },
  {
    name: "a run that is refused for its budget is not tried again",
    guards: "the wallet, against retries",
    edit: {
      file: "packages/core/src/runner/classify.ts",
      from: "if (evidence.gateway?.overLimit && !hasOwnEnd(result))",
      to: "if (evidence.gateway?.overLimit && !hasOwnEnd(result) && !evidence.exit)",
    },
    red: {
      file: "test/spending/run.test.ts",
      test: "a tool that calls the API directly is refused",
    },
  },
  {
    name: "the cost of a dead runner is read from its log",
    guards: "the wallet, against a runner that is killed",
    edit: {
      file: "packages/core/src/runner-process/report-of-log.ts",
      from: "metered: await meteredOf(logged.jobDir, file.attempt),",
      to: "metered: undefined,",
    },
    red: { file: "test/runner-process/recovery.test.ts", test: "killed in the middle of a tool" },
  },
  {
    name: "what other runs have spent is no longer there",
    guards: "the wallet, against many runs at the same time",
    edit: {
      file: "packages/core/src/fleet/spend-limits.ts",
      from: "const ceiling = left(limit, spent[unit] + others[unit]);",
      to: "const ceiling = left(limit, spent[unit]);",
    },
    red: {
      file: "test/spending/shared-limits.test.ts",
      test: "what other runs have spent is gone",
    },
  },
];
