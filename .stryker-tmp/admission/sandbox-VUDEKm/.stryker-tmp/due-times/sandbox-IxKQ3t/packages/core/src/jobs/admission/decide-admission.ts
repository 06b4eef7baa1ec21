import type { ResolvedAgent } from "@herdctl/config";
import type { Outcome, UnfinishedJob } from "@herdctl/protocol";
import type { AdmissionDecision, AdmissionSnapshot } from "../../store/model/admission.ts";
import { type Budget, findExceededLimit, type OverBudget } from "./budget.ts";
import { type Delegation, decideChain } from "./decide-chain.ts";

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
  skip: () => skipForOverlap("has not finished"),
  queue: (live) =>
    live.some((job) => job.status === "pending") ? skipForOverlap("has not started") : accept(),
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

function skipForOverlap(state: string): AdmissionDecision {
  const outcome: Outcome = {
    code: "overlap",
    message: `An earlier run of this schedule ${state}.`,
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
