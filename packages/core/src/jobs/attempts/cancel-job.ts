import { type CancelAllResult, isFinished, type Job, UserError } from "@herdctl/protocol";
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

/** Cancellations that run concurrently, so that the store commits them in one transaction. */
const concurrentCancellations = 64;

/**
 * Cancels all unfinished jobs of an agent. Jobs that have not started come first, so that none of
 * them takes the place of a running one.
 */
export async function cancelAgentJobs(
  services: CancelServices,
  agent: string,
  force: boolean,
): Promise<CancelAllResult> {
  const live = (await services.state.jobs.listLive()).filter((job) => job.agent === agent);
  const [started, waiting] = partition(live, ({ status }) => status === "running");
  const result = { cancelled: 0, stopping: 0 };
  for (const jobs of [waiting.reverse(), started]) {
    const queue = jobs.values();
    const cancelNext = async () => {
      for (const { id } of queue) {
        const { status } = await cancelJob(services, id, force);
        if (status === "cancelled") result.cancelled += 1;
        else if (!isFinished(status)) result.stopping += 1;
      }
    };
    await Promise.all(Array.from({ length: concurrentCancellations }, cancelNext));
  }
  return result;
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
  services: CancelServices,
  jobId: string,
  force: boolean,
  reason?: string,
): Promise<Job> {
  const { state, hub, queue, activeJobs } = services;
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
  const isRunning = job.status === "running";
  const { job: ended, applied } = isRunning
    ? await state.jobs.update(jobId, change)
    : await state.jobs.endWaiting(jobId, change);
  // It started in between.
  if (!applied && !isFinished(ended.status)) return cancelOne(services, jobId, force);
  if (applied) hub.emit({ type: "job:cancelled", job: ended });
  return ended;
}

function partition<T>(items: readonly T[], isFirst: (item: T) => boolean): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}
