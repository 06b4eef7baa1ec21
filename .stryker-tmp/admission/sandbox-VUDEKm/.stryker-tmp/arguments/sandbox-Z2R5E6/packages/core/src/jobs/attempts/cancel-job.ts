import { isFinished, type Job, UserError } from "@herdctl/protocol";
import { findDescendants } from "@herdctl/protocol/schemas";
import type { JobServices } from "../services.ts";
import { defaultOutcome } from "./begin-attempt.ts";

type CancelServices = Pick<JobServices, "state" | "hub" | "queue" | "activeJobs">;

/**
 * Cancels a job and everything it delegated. A delegating job is stopped before the jobs it
 * delegated.
 */
export async function cancelJob(
  services: CancelServices,
  jobId: string,
  force: boolean,
  reason?: string,
): Promise<Job> {
  const ended = await cancelOne(services, jobId, force, reason);
  const chain = await services.state.jobs.listChain(ended.chain.id);
  for (const { id, status } of findDescendants(jobId, chain))
    if (!isFinished(status)) await cancelOne(services, id, force);
  return ended;
}

/** Completes cancellations of chains that an earlier fleet process started. */
export async function resumeChainCancellations(services: CancelServices): Promise<void> {
  for (const { chain } of await services.state.jobs.listUnfinished()) {
    if (chain.parent === null) continue;
    const jobs = await services.state.jobs.listChain(chain.id);
    for (const { id, status } of jobs)
      if (status === "cancelled") await cancelJob(services, id, false);
  }
}

/**
 * Cancels a job immediately if it is not running; otherwise asks its run to stop, or kills it
 * (`force`).
 */
async function cancelOne(
  { state, hub, queue, activeJobs }: CancelServices,
  jobId: string,
  force: boolean,
  reason?: string,
): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  if (reason !== undefined) {
    await state.jobs.update(jobId, { warnings: [...new Set([...job.warnings, reason])] });
  }
  const active = activeJobs.get(jobId);
  active?.stop("cancelled", force);
  if (active || isFinished(job.status)) return job;
  // The process that has the job ends it and records that.
  if (await queue.cancel(job, force)) return job;
  const outcome = defaultOutcome("cancelled");
  const change = { status: "cancelled" as const, outcome, due_at: null };
  const { job: ended } = await state.jobs.update(jobId, change);
  hub.emit({ type: "job:cancelled", job: ended });
  return ended;
}
