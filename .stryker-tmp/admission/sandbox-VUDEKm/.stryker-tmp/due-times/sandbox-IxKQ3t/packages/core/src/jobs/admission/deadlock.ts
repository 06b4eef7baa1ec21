import type { UnfinishedJob } from "@herdctl/protocol";
import { occupiesAgentSlot } from "../dispatch/claim.ts";

type WaitingJob = Pick<
  UnfinishedJob,
  "id" | "agent" | "status" | "waits_for" | "due_at" | "assigned"
>;

/**
 * Whether a job of this agent could ever start while the asking job waits for it. A job that waits
 * for another agent keeps its agent's slot, so two chains could wait for each other forever. This
 * check before every wait prevents that.
 */
export function canStartWhileWaiting(
  agent: string,
  askingId: string,
  live: readonly WaitingJob[],
  limits: ReadonlyMap<string, number>,
): boolean {
  const requestedJob: WaitingJob = {
    id: "",
    agent,
    status: "pending",
    waits_for: [],
    due_at: null,
  };
  const jobs = live.map((job) =>
    job.id === askingId ? { ...job, waits_for: [...job.waits_for, requestedJob.id] } : job,
  );
  return findFinishable([...jobs, requestedJob], limits).has(requestedJob.id);
}

/** The jobs that can finish, either alone or after others have finished. */
function findFinishable(
  jobs: readonly WaitingJob[],
  limits: ReadonlyMap<string, number>,
): Set<string> {
  const live = new Set(jobs.map(({ id }) => id));
  const finishable = new Set<string>();
  for (let before = -1; before < finishable.size; ) {
    before = finishable.size;
    for (const job of jobs)
      if (canFinish(job, jobs, { live, finishable, limits })) finishable.add(job.id);
  }
  return finishable;
}

interface Progress {
  live: ReadonlySet<string>;
  finishable: ReadonlySet<string>;
  limits: ReadonlyMap<string, number>;
}

function canFinish(
  job: WaitingJob,
  jobs: readonly WaitingJob[],
  { live, finishable, limits }: Progress,
): boolean {
  if (occupiesAgentSlot(job))
    return job.waits_for.every((id) => finishable.has(id) || !live.has(id));
  const stuck = jobs.filter(
    (other) => other.agent === job.agent && occupiesAgentSlot(other) && !finishable.has(other.id),
  );
  return stuck.length < (limits.get(job.agent) ?? 1);
}
