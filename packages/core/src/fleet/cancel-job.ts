import { UserError } from "../errors/user-error.ts";
import type { Queue } from "../queue/contract.ts";
import { plainOutcome } from "../runner/begin-attempt.ts";
import { descendantsOf } from "../state/chain.ts";
import type { Job } from "../state/job.ts";
import { isFinished } from "../state/job-status.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { FleetContext } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";

interface Cancelling {
  state: StateManager;
  dispatcher: Dispatcher;
  context: FleetContext;
  queue: Pick<Queue, "cancel">;
}

/** Ends a job and all that its agent handed on: whoever gave work is stopped before who got it. */
export async function cancelJob(
  parts: Cancelling,
  jobId: string,
  force: boolean,
  why?: string,
): Promise<Job> {
  const ended = await cancelOne(parts, jobId, force, why);
  const chain = await parts.state.jobs.chain(ended.chain.id);
  for (const { id, status } of descendantsOf(jobId, chain))
    if (!isFinished(status)) await cancelOne(parts, id, force);
  return ended;
}

/** A fleet that was killed while it cancelled a chain has left a part of it. */
export async function cancelLeftOvers(parts: Cancelling): Promise<void> {
  for (const { chain } of await parts.state.jobs.unfinished()) {
    if (chain.parent === null) continue;
    const jobs = await parts.state.jobs.chain(chain.id);
    for (const { id, status } of jobs)
      if (status === "cancelled") await cancelJob(parts, id, false);
  }
}

/** Ends one that is not under way at once; asks one that is, or does not ask. */
async function cancelOne(
  { state, dispatcher, context, queue }: Cancelling,
  jobId: string,
  force: boolean,
  why?: string,
): Promise<Job> {
  const job = await state.jobs.get(jobId);
  if (!job) throw new UserError("job_not_found", `there is no job ${jobId}`);
  if (why !== undefined) {
    await state.jobs.update(jobId, { warnings: [...new Set([...job.warnings, why])] });
  }
  const active = dispatcher.active.get(jobId);
  active?.stop("cancelled", force);
  if (active || isFinished(job.status)) return job;
  // Whoever has it ends it, and records that.
  if (await queue.cancel(job, force)) return job;
  const outcome = plainOutcome("cancelled");
  const change = { status: "cancelled" as const, outcome, due_at: null };
  const { job: ended } = await state.jobs.update(jobId, change);
  context.hub.emit({ type: "job:cancelled", job: ended });
  return ended;
}
