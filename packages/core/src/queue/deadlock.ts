import type { LiveJob } from "../state/job.ts";
import { isBusy } from "./claim.ts";

type Waiter = Pick<LiveJob, "id" | "agent" | "status" | "waits_for" | "due_at" | "assigned">;

/**
 * Whether a job of this agent could ever start if the asking job waited for its end. A job that
 * waits for another agent keeps its own agent's place, so two chains could wait for each other for
 * ever. As long as every wait is asked about first, nobody ever does.
 */
export function couldStart(
  agent: string,
  askingId: string,
  live: readonly Waiter[],
  limits: ReadonlyMap<string, number>,
): boolean {
  const given: Waiter = { id: "", agent, status: "pending", waits_for: [], due_at: null };
  const jobs = live.map((job) =>
    job.id === askingId ? { ...job, waits_for: [...job.waits_for, given.id] } : job,
  );
  return canEnd([...jobs, given], limits).has(given.id);
}

/** Those that come to their end by themselves, or once others have. */
function canEnd(jobs: readonly Waiter[], limits: ReadonlyMap<string, number>): Set<string> {
  const live = new Set(jobs.map(({ id }) => id));
  const ends = new Set<string>();
  for (let before = -1; before < ends.size; ) {
    before = ends.size;
    for (const job of jobs) if (isFree(job, jobs, { live, ends, limits })) ends.add(job.id);
  }
  return ends;
}

interface Known {
  live: ReadonlySet<string>;
  ends: ReadonlySet<string>;
  limits: ReadonlyMap<string, number>;
}

function isFree(job: Waiter, jobs: readonly Waiter[], { live, ends, limits }: Known): boolean {
  if (isBusy(job)) return job.waits_for.every((id) => ends.has(id) || !live.has(id));
  const stuck = jobs.filter(
    (other) => other.agent === job.agent && isBusy(other) && !ends.has(other.id),
  );
  return stuck.length < (limits.get(job.agent) ?? 1);
}
