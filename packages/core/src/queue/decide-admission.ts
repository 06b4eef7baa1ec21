import type { ResolvedAgent } from "../config/resolve.ts";
import type { AdmissionDecision } from "../state/contract.ts";
import type { LiveJob } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";

type Overlap = ResolvedAgent["schedules"][string]["overlap"];

/** What asks to be admitted, as far as it matters here. Without a schedule nothing overlaps. */
export interface Applicant {
  schedule: string | null;
  overlap: Overlap;
}

/** What is known when it asks; read in the transaction that records the answer. */
export interface AdmissionSnapshot {
  /** What is not finished of the same agent and schedule. */
  live: readonly LiveJob[];
}

/** Each decider looks at one thing; the first that refuses is the reason. */
const deciders: ((applicant: Applicant, snapshot: AdmissionSnapshot) => AdmissionDecision)[] = [
  decideOverlap,
];

export function decideAdmission(
  applicant: Applicant,
  snapshot: AdmissionSnapshot,
): AdmissionDecision {
  const cancel = new Set<string>();
  for (const decide of deciders) {
    const decision = decide(applicant, snapshot);
    if (decision.kind === "skip") return decision;
    for (const id of decision.cancel) cancel.add(id);
  }
  return { kind: "accept", cancel: [...cancel] };
}

function decideOverlap(
  { schedule, overlap }: Applicant,
  { live }: AdmissionSnapshot,
): AdmissionDecision {
  return schedule === null || live.length === 0 ? accept() : policies[overlap](live);
}

/** What becomes of a trigger whose schedule has jobs that are not over. */
const policies: Record<Overlap, (live: readonly LiveJob[]) => AdmissionDecision> = {
  skip: () => skip("is not over"),
  queue: (live) =>
    live.some((job) => job.status === "pending") ? skip("has not begun") : accept(),
  cancel_running: (live) => accept(live.map((job) => job.id)),
  allow: () => accept(),
};

function accept(cancel: string[] = []): AdmissionDecision {
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
