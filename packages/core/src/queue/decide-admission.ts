import type { ResolvedAgent } from "../config/resolve.ts";
import type { AdmissionDecision, AdmissionSnapshot } from "../state/admission.ts";
import type { LiveJob } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";
import { type Budget, type OverBudget, overBudget } from "./budget.ts";
import { type Delegated, decideChain } from "./decide-chain.ts";

export type Overlap = ResolvedAgent["schedules"][string]["overlap"];

/** What asks to be admitted, as far as it matters here. Without a schedule nothing overlaps. */
export interface Applicant {
  schedule: string | null;
  overlap: Overlap;
  agent?: string;
  /** Why its gate keeps it out. */
  gate?: Outcome;
  /** Dollars that are held for it until it is over. */
  reserve?: number;
  budgets?: { fleet: Budget; agent: Budget };
  /** Another agent gave it. */
  delegated?: Delegated;
}

/** Each decider looks at one thing; the first that refuses is the reason. */
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
    for (const id of decision.cancel) cancel.add(id);
    maxUsd = decision.maxUsd ?? maxUsd;
  }
  return { ...accept([...cancel]), ...(maxUsd !== undefined && { maxUsd }) };
}

/** Where all are allowed, those that live are not even looked at: they may be thousands. */
export function wantsLive({ schedule, overlap }: Applicant): boolean {
  return schedule !== null && overlap !== "allow";
}

function decideOverlap(
  { schedule, overlap }: Applicant,
  snapshot: AdmissionSnapshot,
): AdmissionDecision {
  if (schedule === null || overlap === "allow") return accept();
  return snapshot.live.length === 0 ? accept() : policies[overlap](snapshot.live);
}

/** What becomes of a trigger whose schedule has jobs that are not over. */
const policies: Record<
  Exclude<Overlap, "allow">,
  (live: readonly LiveJob[]) => AdmissionDecision
> = {
  skip: () => skip("is not over"),
  queue: (live) =>
    live.some((job) => job.status === "pending") ? skip("has not begun") : accept(),
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
  const own = overBudget(budgets.agent, spending.agents.get(agent), reserve);
  if (own) return tooDear(`\`${agent}\``, own, ` ${agent}`);
  const all = overBudget(budgets.fleet, spending.fleet, reserve);
  return all ? tooDear("The fleet", all, "") : accept();
}

function accept(cancel: string[] = []): Extract<AdmissionDecision, { kind: "accept" }> {
  return { kind: "accept", cancel };
}

function skip(state: string): AdmissionDecision {
  const outcome: Outcome = {
    code: "overlap",
    message: `An earlier run of this schedule ${state}.`,
    hint: "Choose another `overlap` if it should wait.",
  };
  return { kind: "skip", outcome };
}

function tooDear(who: string, { kind, limit, used }: OverBudget, agent: string): AdmissionDecision {
  const outcome: Outcome = {
    code: "budget_exceeded",
    message: `${who} has used ${used} of ${limit} (\`daily_${kind}\`) today.`,
    hint: `Raise it for today with \`herdctl budget raise${agent} --${kind} …\`, or for good in the configuration.`,
  };
  return { kind: "skip", outcome };
}
