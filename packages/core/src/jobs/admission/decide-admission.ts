import type { Fleet, ResolvedAgent } from "@herdctl/config";
import type {
  BudgetAmounts,
  BudgetDay,
  Chain,
  ChainSpending,
  DailySpending,
  Outcome,
  OutcomeCode,
  UnfinishedJob,
} from "@herdctl/protocol";
import { dayOf } from "../../lib/time-zone.ts";
import type { AdmissionDecision, AdmissionSnapshot } from "../../store/model/admission.ts";

export type Overlap = ResolvedAgent["schedules"][string]["overlap"];

/**
 * The facts about a trigger that decide its admission. Triggers without a schedule never overlap.
 */
export interface Applicant {
  schedule: string | null;
  overlap: Overlap;
  agent?: string;
  /** The outcome if the gate is closed. */
  gate?: Outcome;
  /** Dollars to reserve until the job is finished. */
  reserve?: number;
  budgets?: { fleet: Budget; agent: Budget };
  /** Set if another agent delegates the job. */
  delegated?: Delegation;
}

/** Each decider checks one thing. The first refusal gives the reason. */
const deciders: ((applicant: Applicant, snapshot: AdmissionSnapshot) => AdmissionDecision)[] = [
  decideOverlap,
  decideGate,
  ({ agent = "", reserve, delegated }, { chain }) =>
    delegated ? decideChain({ agent, reserve }, delegated, chain) : accept(),
  decideBudget,
];

export function decideAdmission(
  applicant: Applicant,
  snapshot: AdmissionSnapshot,
): AdmissionDecision {
  const cancel = new Set<string>();
  let maxUsd: number | undefined;
  for (const decide of deciders) {
    const decision = decide(applicant, snapshot);
    if (decision.kind === "skip") return decision;
    for (const id of decision.jobsToCancel) cancel.add(id);
    maxUsd = decision.maxUsd ?? maxUsd;
  }
  return { ...accept([...cancel]), ...(maxUsd !== undefined && { maxUsd }) };
}

/** With `overlap: allow`, live jobs are not read: there may be thousands. */
export function needsLiveJobs({ schedule, overlap }: Applicant): boolean {
  return schedule !== null && overlap !== "allow";
}

function decideOverlap(
  { schedule, overlap }: Applicant,
  snapshot: AdmissionSnapshot,
): AdmissionDecision {
  if (schedule === null || overlap === "allow") return accept();
  return snapshot.liveJobs.length === 0 ? accept() : overlapPolicies[overlap](snapshot.liveJobs);
}

/** Decisions for a trigger whose schedule has unfinished jobs. */
const overlapPolicies: Record<
  Exclude<Overlap, "allow">,
  (live: readonly UnfinishedJob[]) => AdmissionDecision
> = {
  skip: ([first]) => skipForOverlap(first, "has not finished"),
  queue: (live) => {
    const pending = live.find((job) => job.status === "pending");
    return pending ? skipForOverlap(pending, "has not started") : accept();
  },
  cancel_running: (live) => accept(live.map((job) => job.id)),
};

function decideGate({ gate }: Applicant): AdmissionDecision {
  return gate ? { kind: "skip", outcome: gate } : accept();
}

function decideBudget(
  { agent = "", reserve, budgets }: Applicant,
  { spending }: AdmissionSnapshot,
): AdmissionDecision {
  if (!spending || !budgets) return accept();
  const own = findExceededLimit(budgets.agent, spending.agents.get(agent), reserve);
  if (own) return skipForBudget(`\`${agent}\``, own, ` ${agent}`);
  const all = findExceededLimit(budgets.fleet, spending.fleet, reserve);
  return all ? skipForBudget("The fleet", all, "") : accept();
}

function accept(cancel: string[] = []): Extract<AdmissionDecision, { kind: "accept" }> {
  return { kind: "accept", jobsToCancel: cancel };
}

function skipForOverlap(earlier: UnfinishedJob | undefined, state: string): AdmissionDecision {
  const id = earlier ? ` (\`${earlier.id}\`)` : "";
  const outcome: Outcome = {
    code: "overlap",
    message: `An earlier run of this schedule${id} ${state}.`,
    hint: "To change this, set another `overlap` for the schedule.",
  };
  return { kind: "skip", outcome };
}

function skipForBudget(
  subject: string,
  { kind, limit, used }: OverBudget,
  agent: string,
): AdmissionDecision {
  const outcome: Outcome = {
    code: "budget_exceeded",
    message: `${subject} has used ${used} of ${limit} (\`daily_${kind}\`) today.`,
    hint: `Raise it for today with \`herdctl budget raise${agent} --${kind} …\`, or permanently in the configuration.`,
  };
  return { kind: "skip", outcome };
}

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
    limits.max_cost_usd - usd < Math.max(reserve - minUsd, minUsd)
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

function chainLimit(message: string, hint: string): Refusal {
  return { code: "chain_limit", message, hint };
}

function raiseHint(key: keyof ChainLimits): string {
  return `Raise \`fleet.chain.${key}\` to allow more.`;
}

function chainPath({ agents }: Chain, agent: string): string {
  return [...agents, agent].join(" → ");
}

export type Budget = ResolvedAgent["budget"];

export interface OverBudget {
  kind: keyof BudgetAmounts;
  limit: number;
  /** Spent, plus reserved for unfinished jobs. */
  used: number;
}

/**
 * Finds the daily limit that keeps a job out. A job with `max_budget_usd` must fit into what is
 * left. The cost of other jobs is unknown, so they are admitted as long as any budget remains.
 */
export function findExceededLimit(
  budget: Budget,
  spent: DailySpending = unspent,
  reserve = 0,
): OverBudget | undefined {
  const uses: Record<keyof BudgetAmounts, { used: number; wants: number; atLeast: number }> = {
    usd: {
      used: /* defence: reserved-budget */ spent.usd + spent.reserved_usd,
      wants: reserve,
      atLeast: minUsd,
    },
    jobs: { used: spent.jobs, wants: 1, atLeast: 1 },
    tokens: { used: spent.tokens, wants: 0, atLeast: 1 },
  };
  for (const kind of ["usd", "jobs", "tokens"] as const) {
    const limit = effectiveLimits(budget, spent.raised)[kind];
    const { used, wants, atLeast } = uses[kind];
    const left = (limit ?? Number.POSITIVE_INFINITY) - used;
    if (
      /* defence: daily-budget */ limit !== undefined &&
      left < Math.max(wants - minUsd, atLeast)
    ) {
      return { kind, limit, used: Math.round(used * 1e4) / 1e4 };
    }
  }
  return undefined;
}

/** The limits in force today, including raises. */
export function effectiveLimits(budget: Budget, raised: BudgetAmounts): Partial<BudgetAmounts> {
  const raisedTo = (limit: number | undefined, by: number) =>
    limit === undefined ? undefined : limit + by;
  return {
    usd: raisedTo(budget.daily_usd, raised.usd),
    jobs: raisedTo(budget.daily_jobs, raised.jobs),
    tokens: raisedTo(budget.daily_tokens, raised.tokens),
  };
}

/** Sums of prices have rounding errors, so a used-up limit may leave a tiny remainder. */
const minUsd = 1e-6;

const zeroAmounts: BudgetAmounts = { usd: 0, jobs: 0, tokens: 0 };
const unspent: DailySpending = { ...zeroAmounts, reserved_usd: 0, raised: zeroAmounts };

export function today({ fleet }: Fleet): BudgetDay {
  return dayOf(new Date(), fleet.timezone);
}
