import type { Job, StateManager } from "@herdctl/core";
import { isFinished } from "@herdctl/core/light";
import { isAlive } from "@herdctl/core/state";

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
    const isAbandoned = job?.runner ? !isAlive(job.runner) : false;
    if (!job || isFinished(job.status) || isAbandoned) end();
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
