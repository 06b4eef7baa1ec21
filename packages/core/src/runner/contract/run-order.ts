import type { JsonSchema, ResolvedAgent } from "@herdctl/config";
import type { Outcome, SessionHomeKind } from "@herdctl/protocol";
import { describeLimit, type PriceOverrides, type SpendLimit } from "./spend-limit.ts";

/** Everything a runner needs to run one attempt, except the environment, which holds secrets. */
export interface RunOrder {
  jobId: string;
  attempt: number;
  agent: ResolvedAgent;
  prompt: string;
  /** Whether `@path` and `/command` in the prompt take effect; otherwise it is sent verbatim. */
  expandsReferences?: boolean;
  place: SessionHomeKind;
  /** The path on the host, also if the container mounts it at another path. */
  cwd: string;
  session: SessionChoice;
  /** The folder on the host where claude keeps its sessions. */
  configDir: string;
  /** The version is null for an image until claude reports it. */
  claude: { path: string; version: string | null };
  partialMessages: boolean;
  /** Schema of the report that the run must return. */
  outputSchema?: JsonSchema;
  /** Keep `claude` running for the next turn of the session if this turn succeeds. */
  keepAlive?: boolean;
  /** Absent for a `claude` that is started before its job and may not spend anything. */
  spend?: SpendPlan;
}

/** `docker` for agents in a container, otherwise the type of the runtime. */
export function sessionHomeKindOf(
  agent: Pick<ResolvedAgent, "runtime" | "docker">,
): SessionHomeKind {
  return agent.docker.enabled ? "docker" : agent.runtime.type;
}

export type SessionChoice =
  | { kind: "fresh"; sessionId: string }
  | { kind: "resume"; sessionId: string }
  /** `at`: the last message to copy; by default all messages are copied. */
  | { kind: "fork"; from: string; at?: string; sessionId: string };

/** The configuration of an agent without the parts that do not affect its `claude`. */
export function claudeVisibleConfig({
  schedules: _schedules,
  hooks: _hooks,
  chat: _chat,
  ...rest
}: ResolvedAgent) {
  return rest;
}

export type { SpendAmount, SpendLimit } from "./spend-limit.ts";

/** The spending limits of one run and the prices used for metering. */
export interface SpendPlan {
  limits: readonly SpendLimit[];
  prices: PriceOverrides;
}

interface JobLimits {
  maxBudgetUsd: number | undefined;
  /** The remaining budget of the chain when the job was admitted. */
  chainUsd: number | null;
  /** Spent by earlier attempts. */
  spentUsd: number;
}

/** The remaining budget of an attempt: a job's limit applies to all its attempts together. */
export type AttemptBudgetResult =
  | { kind: "left"; usd: number | undefined; limits: SpendLimit[] }
  | { kind: "used_up"; outcome: Outcome };

export function computeAttemptBudget({
  maxBudgetUsd,
  chainUsd,
  spentUsd,
}: JobLimits): AttemptBudgetResult {
  const limits = maxBudgetUsd === undefined ? [] : [jobLimit(maxBudgetUsd, spentUsd)];
  const reached = limits.find(({ ceiling }) => ceiling < minUsd);
  if (reached) return { kind: "used_up", outcome: budgetExceededOutcome(reached) };
  const maxUsd = Math.min(maxBudgetUsd ?? Infinity, chainUsd ?? Infinity);
  if (maxUsd === Infinity) return { kind: "left", usd: undefined, limits };
  const usd = maxUsd - spentUsd;
  if (usd >= minUsd) return { kind: "left", usd, limits };
  const message = `The job used up the remaining budget of its chain ($${maxUsd}).`;
  return { kind: "used_up", outcome: { code: "budget_exceeded", message, hint: limitHints.chain } };
}

/** Smaller amounts are floating-point noise. */
const minUsd = 1e-6;

/** The only limit that is not shared with other jobs. */
function jobLimit(limit: number, spentUsd: number): SpendLimit {
  const ceiling = Math.max(0, limit - spentUsd);
  return { key: "max_budget_usd", scope: "run", unit: "usd", limit, ceiling };
}

const limitHints: Record<SpendLimit["scope"], string> = {
  run: "Raise `max_budget_usd` of the agent, or make the task smaller.",
  chain: "Raise `fleet.chain.max_cost_usd`, or let fewer agents delegate work.",
  agent:
    "Raise it for today with `herdctl budget raise AGENT`, or permanently in the configuration.",
  fleet: "Raise it for today with `herdctl budget raise`, or permanently in the configuration.",
};

/** The outcome of a run whose API calls the gateway refused because of this limit. */
export function budgetExceededOutcome(limit: SpendLimit): Outcome {
  const text = describeLimit(limit);
  const message = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return { code: "budget_exceeded", message, hint: limitHints[limit.scope] };
}
