import type { Job, StateManager } from "@herdctl/core";
import { isFinished } from "@herdctl/core/light";
import { isAlive, lockHolder, ranElsewhere } from "@herdctl/core/state";

const lookEvery = 250;

/** Aborts when the job is over, when whoever ran it or reads us is gone, or at Ctrl-C. */
export function followJob(
  state: StateManager,
  { id }: Job,
): { signal: AbortSignal; dispose(): void } {
  const ended = new AbortController();
  const end = () => ended.abort();
  const look = async () => {
    const job = await state.jobs.get(id);
    if (!job || isFinished(job.status) || isAbandoned(state, job)) end();
  };
  const timer = setInterval(() => void look().catch(end), lookEvery);
  process.once("SIGINT", end);
  process.stdout.once("error", end);
  const dispose = () => {
    clearInterval(timer);
    process.off("SIGINT", end);
    process.stdout.off("error", end);
  };
  return { signal: ended.signal, dispose };
}

/** A fleet that lives, if only for one job, is about to record what its runner came to. */
function isAbandoned(state: StateManager, job: Job): boolean {
  if (ranElsewhere(state, job)) return false;
  const { runner } = job;
  return runner !== null && !isAlive(runner) && lockHolder(state.stateDir) === undefined;
}
