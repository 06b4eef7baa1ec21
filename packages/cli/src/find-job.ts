import type { Job, StateManager } from "@herdctl/core";
import { UserError } from "@herdctl/core/light";

/** The one job that is meant by an id or the beginning of one. */
export async function findJob(state: StateManager, typed: string): Promise<Job> {
  const job = await findJobIfAny(state, typed);
  if (job) return job;
  throw new UserError("job_not_found", `there is no job ${typed}`);
}

export async function findJobIfAny(state: StateManager, typed: string): Promise<Job | undefined> {
  const exact = await state.jobs.get(typed);
  if (exact || typed === "") return exact;
  const [first, ...others] = await state.jobs.findByPrefix(typed);
  if (others.length === 0) return first;
  const ids = [first, ...others].map((job) => job?.id).join(", ");
  throw new UserError("job_not_found", `several jobs begin with ${typed}`, {
    hint: `Type more of one of these: ${ids}.`,
  });
}
