import type { StateManager } from "@herdctl/core";
import { type Job, UserError } from "@herdctl/protocol";

/** The job with this ID or unique ID prefix. */
export async function findJob(state: StateManager, idPrefix: string): Promise<Job> {
  const job = await findJobIfAny(state, idPrefix);
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${idPrefix}`);
}

export async function findJobIfAny(
  state: StateManager,
  idPrefix: string,
): Promise<Job | undefined> {
  const exact = await state.jobs.get(idPrefix);
  if (exact || idPrefix === "") return exact;
  const [first, ...others] = await state.jobs.findByPrefix(idPrefix);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((job) => job?.id).join(", ");
  throw new UserError("job_not_found", `several jobs begin with ${idPrefix}`, {
    hint: `Type more characters of one of these IDs: ${ids}.`,
  });
}
