import type { Defence } from "../defence.ts";

const spendTest = "test/gateway/spend-limits.test.ts";
const limitsTest = "test/agent-tools/delegation-limits.test.ts";

export const spendingDefences: readonly Defence[] = [
  {
    name: "a chain must not return to an agent in its path",
    protects: "the budget, against agents in a circle",
    mark: "chain-no-cycle",
    without: '""',
    failingTest: { file: limitsTest, test: "refuses an agent that is already in its own path" },
  },
  {
    name: "a chain has a maximum depth",
    protects: "the budget, against endless delegation",
    mark: "chain-depth",
    node: "BinaryExpression",
    without: "$left < 0",
    failingTest: { file: limitsTest, test: "refuses a delegation beyond the maximum depth" },
  },
  {
    name: "a chain has a maximum number of jobs",
    protects: "the budget, against an agent that delegates to many",
    mark: "chain-jobs",
    node: "BinaryExpression",
    without: "$left < 0",
    failingTest: { file: limitsTest, test: "refuses the eleventh job" },
  },
  {
    name: "a chain has a maximum cost",
    protects: "the budget, against a chain as a whole",
    mark: "chain-cost",
    node: "BinaryExpression",
    without: "$left.left + $3 < $right",
    failingTest: { file: limitsTest, test: "refuses with nothing left" },
  },
  {
    name: "an agent triggers only allowed agents",
    protects: "other agents",
    mark: "chain-allowed-agents",
    without: "$condition || $8 ? undefined : $whenFalse",
    failingTest: { file: limitsTest, test: "refuses an agent outside may_trigger" },
  },
  {
    name: "a day has a budget",
    protects: "the budget",
    mark: "daily-budget",
    without: "$left && $3 < Math.min($right.right.arguments) - $1",
    failingTest: {
      file: "test/security/runaway-spending.test.ts",
      test: "starts no more jobs than the day's budget, whatever triggers them in a loop",
    },
  },
  {
    name: "the possible cost of a running job is reserved",
    protects: "the budget, against many concurrent jobs",
    mark: "reserved-budget",
    without: "$left",
    failingTest: { file: "test/jobs/budgets.test.ts", test: "counts reserved costs" },
  },
  {
    name: "the same key gives the same job",
    protects: "the budget, against repeated deliveries",
    mark: "delivery-key",
    without: "`${$0}-${Math.random()}`",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "creates no second job for a delivery that its sender or an eavesdropper repeats",
    },
  },
  {
    name: "a webhook has a rate limit",
    protects: "the budget, against a flood of signed deliveries",
    mark: "webhook-rate-limit",
    without: "-Infinity",
    failingTest: {
      file: "test/webhooks/invalid-requests.test.ts",
      test: "answers more deliveries than a schedule accepts in a minute with a retry time",
    },
  },
  {
    name: "a failing job ends",
    protects: "the budget, against endless retries",
    mark: "max-attempts",
    without: "",
    failingTest: {
      file: "test/jobs/retry-or-finish.test.ts",
      test: "finishes a job that only fails",
    },
  },
  {
    name: "a job that crashes its runner repeatedly is abandoned",
    protects: "the budget, against a job that kills its runner",
    mark: "max-crashes",
    without: "$0 * 100",
    failingTest: {
      file: "test/jobs/retry-or-finish.test.ts",
      test: "explains in the outcome why a job was abandoned",
    },
  },
  {
    name: "a refused credential is not retried",
    protects: "the account, against being locked",
    mark: "no-retry-on-refused-credential",
    without: "",
    failingTest: {
      file: "test/jobs/retry-or-finish.test.ts",
      test: "pauses on a refused credential",
    },
  },
  {
    name: "a refused credential pauses all agents that share it",
    protects: "the account, against being locked",
    mark: "pause-on-refused-credential",
    without: "$right",
    failingTest: {
      file: "test/fleet/fleet-manager.test.ts",
      test: "fails one job on a refused credential, reports it once and keeps the others waiting",
    },
  },
  {
    name: "an overloaded API slows down the fleet",
    protects: "the budget and the API, against many concurrent retries",
    mark: "overload-backoff",
    without: "$left",
    failingTest: {
      file: "test/jobs/backoff.test.ts",
      test: "doubles the pause after a later failure",
    },
  },
  {
    name: "an agent plans a limited number of runs",
    protects: "the budget, against an agent that keeps itself busy",
    mark: "agent-schedule-limit",
    without: "if ($1 < 0) $thenStatement",
    failingTest: {
      file: "test/agent-tools/schedule.test.ts",
      test: "grants no more than the allowed number of concurrently planned runs",
    },
  },
  {
    name: "the gateway refuses calls beyond a limit",
    protects: "the budget, against tools that call the API directly",
    mark: "gateway-spend-limit",
    without: "",
    failingTest: {
      file: spendTest,
      test: "refuses calls beyond the limit with an API error and does not forward them",
    },
  },
  {
    name: "concurrent calls cannot share the rest of a limit",
    protects: "the budget, against many concurrent calls",
    mark: "concurrent-calls",
    without: "$left < 0",
    failingTest: {
      file: spendTest,
      test: "does not let five concurrent calls share the rest for one",
    },
  },
  {
    name: "an interrupted call is counted",
    protects: "the budget, against clients that hang up",
    mark: "aborted-call-cost",
    without: "$thenStatement",
    failingTest: { file: spendTest, test: "cost of an interrupted call" },
  },
  {
    name: "a call is recorded before it is forwarded",
    protects: "the budget, against a runner that is killed",
    mark: "call-logged-first",
    without: "",
    failingTest: {
      file: spendTest,
      test: "records a call before it is forwarded, and again while its answer arrives",
    },
  },
  {
    name: "no calls are forwarded between two turns",
    protects: "the budget, against leftovers of a turn",
    mark: "no-calls-between-turns",
    node: "BinaryExpression",
    without: "$left && Object.values($left).every(Boolean) && $right",
    failingTest: { file: spendTest, test: "counts nothing between two turns of a session" },
  },
  {
    name: "a model without a price has the highest known price",
    protects: "the budget, against models missing from the price list",
    mark: "unknown-model-price",
    without: "Object.fromEntries(Object.keys($0).map((key) => [key, 0]))",
    failingTest: { file: "test/gateway/prices.test.ts", test: "at the highest known rate" },
  },
  {
    name: "the larger of reported and metered cost is recorded",
    protects: "the budget, against a forged or missing result",
    mark: "larger-cost",
    without: "$arguments[0]",
    failingTest: {
      file: "test/spending/usage-report.test.ts",
      test: "a forged result with zero cost",
    },
  },
  {
    name: "a run that is refused for its budget is not retried",
    protects: "the budget, against retries",
    mark: "no-retry-over-budget",
    without: "",
    failingTest: {
      file: "test/spending/run-spend-limits.test.ts",
      test: "refuses direct API calls of a tool beyond `max_budget_usd`",
    },
  },
  {
    name: "the cost of a dead runner is read from its log",
    protects: "the budget, against a runner that is killed",
    mark: "cost-of-dead-runner",
    without: "$name: undefined",
    failingTest: {
      file: "test/runner/recovery.test.ts",
      test: "settles and cleans up a runner killed in the middle of a tool, and resumes its session",
    },
  },
  {
    name: "spending of other runs is subtracted",
    protects: "the budget, against many concurrent runs",
    mark: "shared-spend-limit",
    without: "$left",
    failingTest: {
      file: "test/spending/shared-spend-limits.test.ts",
      test: "subtracts what other runs have spent",
    },
  },
  {
    name: "the first job of a chain is limited by the chain",
    protects: "the budget, against a chain as a whole",
    mark: "chain-spend-limit",
    without: "$left && $right",
    failingTest: {
      file: "test/spending/fleet-spend-limits.test.ts",
      test: "limits the first job of a chain to the rest of the chain",
    },
  },
  {
    name: "the cost of earlier attempts is subtracted from the job's limit",
    protects: "the budget, against a job that crashes to get a new budget",
    mark: "earlier-attempts-cost",
    without: "$name: 0",
    failingTest: {
      file: "test/jobs/prepare-run.test.ts",
      test: "leaves nothing for another attempt",
    },
  },
  {
    name: "a run on a lost node costs what its log shows",
    protects: "the budget, against a node that is lost with its records",
    mark: "cost-on-lost-node",
    without: "$name: undefined",
    failingTest: {
      file: "test/cluster/report-from-shipped-output.test.ts",
      test: "sums the cost of an interrupted run from its messages, counting each call once",
    },
  },
];
