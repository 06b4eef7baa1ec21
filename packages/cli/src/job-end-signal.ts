import type { StateManager } from "@herdctl/core";
import { isAlive, ranOnOtherNode, readLockHolder } from "@herdctl/core/internal";
import { isFinished, type Job } from "@herdctl/protocol";

const pollIntervalMs = 250;

/** Aborts when the job has ended or is abandoned, on Ctrl-C, or when standard output is closed. */
export function createJobEndSignal(
  state: StateManager,
  { id }: Job,
): { signal: AbortSignal; dispose(): void } {
  const ended = new AbortController();
  const end = () => ended.abort();
  const checkJob = async () => {
    const job = await state.jobs.get(id);
    if (!job || isFinished(job.status) || isAbandoned(state, job)) end();
  };
  const timer = setInterval(() => void checkJob().catch(end), pollIntervalMs);
  process.once("SIGINT", end);
  process.stdout.once("error", end);
  const dispose = () => {
    clearInterval(timer);
    process.off("SIGINT", end);
    process.stdout.off("error", end);
  };
  return { signal: ended.signal, dispose };
}

/** A dead runner's job is abandoned unless some fleet process is left to record its result. */
function isAbandoned(state: StateManager, job: Job): boolean {
  if (ranOnOtherNode(state, job)) return false;
  const { runner } = job;
  return runner !== null && !isAlive(runner) && readLockHolder(state.stateDir) === undefined;
}
