import type { Fleet } from "@herdctl/config";
import type { Chain, ChainSpending, OutcomeCode } from "@herdctl/protocol";
import type { AdmissionDecision } from "../../store/model/admission.ts";

export type ChainLimits = Fleet["fleet"]["chain"];

/** The facts about a job that one agent delegates to another. */
export interface Delegation {
  /** Position of the new job in the chain. */
  chain: Chain;
  /** The configuration allows the delegating agent to trigger the other one. */
  isAllowed: boolean;
  limits: ChainLimits;
  /** Why the job could never start while the delegating job waits for it. */
  deadlock?: string;
}

interface ChainTarget {
  agent: string;
  reserve?: number;
}

/**
 * Whether a job may be delegated. The limits count the whole chain, whichever of its jobs
 * delegates. The remaining dollars are the maximum cost of the new job.
 */
export function decideChain(
  receiver: ChainTarget,
  delegated: Delegation,
  spent: ChainSpending = { jobs: 0, usd: 0 },
): AdmissionDecision {
  for (const rule of rules) {
    const refusal = rule(receiver, delegated, spent);
    if (refusal) return { kind: "skip", outcome: refusal };
  }
  return { kind: "accept", jobsToCancel: [], maxUsd: delegated.limits.max_cost_usd - spent.usd };
}

interface Refusal {
  code: OutcomeCode;
  message: string;
  hint: string;
}

/** The first rule that refuses gives the reason. */
const rules: ((
  receiver: ChainTarget,
  delegated: Delegation,
  spent: ChainSpending,
) => Refusal | undefined)[] = [
  ({ agent }, { isAllowed, chain }) =>
    // defence: chain-allowed-agents
    isAllowed
      ? undefined
      : {
          code: "not_allowed",
          message: `\`${chain.agents.at(-1)}\` may not trigger \`${agent}\`.`,
          hint: "Add it to `may_trigger` to allow this.",
        },
  ({ agent }, { chain }) =>
    chain.agents.includes(/* defence: chain-no-cycle */ agent)
      ? chainLimit(
          `\`${agent}\` is already in this chain: ${chainPath(chain, agent)}.`,
          "Let agents delegate in one direction only.",
        )
      : undefined,
  (_, { chain, limits }) =>
    // defence: chain-depth
    chain.depth > limits.max_depth
      ? chainLimit(
          `The chain has reached its maximum depth of ${limits.max_depth}.`,
          raiseHint("max_depth"),
        )
      : undefined,
  (_, { limits }, { jobs }) =>
    // defence: chain-jobs
    jobs >= limits.max_jobs
      ? chainLimit(`The chain already has ${jobs} jobs.`, raiseHint("max_jobs"))
      : undefined,
  ({ reserve = 0 }, { limits }, { usd }) =>
    // defence: chain-cost
    limits.max_cost_usd - usd < Math.max(reserve, minUsd)
      ? chainLimit(
          `The chain has used ${Math.round(usd * 1e4) / 1e4} of ${limits.max_cost_usd} dollars.`,
          raiseHint("max_cost_usd"),
        )
      : undefined,
  (_, { deadlock }) =>
    deadlock === undefined
      ? undefined
      : chainLimit(deadlock, "Raise `max_concurrent` of the agents, or do not wait."),
];

/** Sums of prices have rounding errors. */
const minUsd = 1e-6;

function chainLimit(message: string, hint: string): Refusal {
  return { code: "chain_limit", message, hint };
}

function raiseHint(key: keyof ChainLimits): string {
  return `Raise \`fleet.chain.${key}\` to allow more.`;
}

function chainPath({ agents }: Chain, agent: string): string {
  return [...agents, agent].join(" → ");
}
