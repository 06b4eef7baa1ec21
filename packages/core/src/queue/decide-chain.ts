import type { Fleet } from "../config/load.ts";
import type { AdmissionDecision } from "../state/admission.ts";
import type { Chain, ChainSpent } from "../state/chain.ts";
import type { OutcomeCode } from "../state/outcome.ts";

export type ChainLimits = Fleet["fleet"]["chain"];

/** What is known of a job that one agent gives another. */
export interface Delegated {
  /** Where the new job would stand. */
  chain: Chain;
  /** The giver's configuration names the other one. */
  isAllowed: boolean;
  limits: ChainLimits;
  /** Why it could never start while the giver waits for it. */
  deadlock?: string;
}

interface Receiver {
  agent: string;
  reserve?: number;
}

/**
 * Whether a job may be handed on. The whole chain counts, whoever of it asks; what is left of its
 * dollars is the most that the new job may cost.
 */
export function decideChain(
  receiver: Receiver,
  delegated: Delegated,
  spent: ChainSpent = { jobs: 0, usd: 0 },
): AdmissionDecision {
  for (const rule of rules) {
    const refused = rule(receiver, delegated, spent);
    if (refused) return { kind: "skip", outcome: refused };
  }
  return { kind: "accept", cancel: [], maxUsd: delegated.limits.max_cost_usd - spent.usd };
}

interface Refusal {
  code: OutcomeCode;
  message: string;
  hint: string;
}

/** The first that refuses is the reason. */
const rules: ((
  receiver: Receiver,
  delegated: Delegated,
  spent: ChainSpent,
) => Refusal | undefined)[] = [
  ({ agent }, { isAllowed, chain }) =>
    isAllowed
      ? undefined
      : {
          code: "not_allowed",
          message: `\`${chain.agents.at(-1)}\` may not trigger \`${agent}\`.`,
          hint: "Name it in `may_trigger` if it should.",
        },
  ({ agent }, { chain }) =>
    chain.agents.includes(agent)
      ? limit(
          `\`${agent}\` is at work in this chain already: ${path(chain, agent)}.`,
          "Let agents hand work on in one direction.",
        )
      : undefined,
  (_, { chain, limits }) =>
    chain.depth > limits.max_depth
      ? limit(`The chain has handed work on ${limits.max_depth} times already.`, raise("max_depth"))
      : undefined,
  (_, { limits }, { jobs }) =>
    jobs >= limits.max_jobs
      ? limit(`The chain has ${jobs} jobs already.`, raise("max_jobs"))
      : undefined,
  ({ reserve = 0 }, { limits }, { usd }) =>
    limits.max_cost_usd - usd < Math.max(reserve, smallest)
      ? limit(
          `The chain has used ${Math.round(usd * 1e4) / 1e4} of ${limits.max_cost_usd} dollars.`,
          raise("max_cost_usd"),
        )
      : undefined,
  (_, { deadlock }) =>
    deadlock === undefined
      ? undefined
      : limit(deadlock, "Raise `max_concurrent` of the agents, or do not wait."),
];

/** Sums of prices end in noise. */
const smallest = 1e-6;

function limit(message: string, hint: string): Refusal {
  return { code: "chain_limit", message, hint };
}

function raise(key: keyof ChainLimits): string {
  return `Raise \`fleet.chain.${key}\` if it should go on.`;
}

function path({ agents }: Chain, agent: string): string {
  return [...agents, agent].join(" → ");
}
