import { UserError } from "../errors/user-error.ts";
import { plainOutcome } from "../runner/begin-attempt.ts";
import type { Job } from "../state/job.ts";
import { isFinished } from "../state/job-status.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { FleetContext } from "./context.ts";
import type { Dispatcher } from "./dispatcher.ts";

interface Cancelling {
  state: StateManager;
  dispatcher: Dispatcher;
  context: FleetContext;
}

/** Ends a job that is not under way at once; asks one that is, or does not ask. */
export async function cancelJob(
  { state, dispatcher, context }: Cancelling,
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
  const outcome = plainOutcome("cancelled");
  const change = { status: "cancelled" as const, outcome, due_at: null };
  const { job: ended } = await state.jobs.update(jobId, change);
  context.hub.emit({ type: "job:cancelled", job: ended });
  return ended;
}
