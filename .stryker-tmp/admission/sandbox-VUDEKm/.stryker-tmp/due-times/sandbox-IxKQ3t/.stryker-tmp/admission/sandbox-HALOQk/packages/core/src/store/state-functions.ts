import type { Job, JobChange, NewJob, Session, SessionInfo } from "@herdctl/protocol";
import type { JobUpdateResult } from "./contracts/job-store.ts";
import { openOutput } from "./files/output-writer.ts";
import { StateManager } from "./state-manager.ts";

/** An open state, or the directory of one that is opened for this call only. */
export type StateLike = StateManager | string;

/** Durable when it resolves. With a known idempotency key, returns the first job. */
export function createJob(state: StateLike, job: NewJob): Promise<Job> {
  return withState(state, async (openedState) => (await openedState.jobs.create(job)).job);
}

/** Not applied to a finished job, whose record is final. */
export function updateJob(
  state: StateLike,
  id: string,
  change: JobChange,
): Promise<JobUpdateResult> {
  return withState(state, (openedState) => openedState.jobs.update(id, change));
}

/** Saves what a run reveals about a session; omitted fields stay unchanged. */
export function saveSessionInfo(state: StateLike, info: SessionInfo): Promise<Session> {
  return withState(state, (openedState) => openedState.sessions.save(info));
}

/**
 * Appends one message to a job's log, in the order of the calls. For many messages, keep an
 * `openOutput`.
 */
export function appendJobOutput(state: StateLike, jobId: string, message: object): Promise<void> {
  const jobDir = stateManagerOf(state).jobDir(jobId);
  const appended = (pendingAppends.get(jobDir) ?? Promise.resolve()).then(() =>
    appendMessage(jobDir, message),
  );
  const settled = appended
    .catch(() => {})
    .then(() => {
      if (pendingAppends.get(jobDir) === settled) pendingAppends.delete(jobDir);
    });
  pendingAppends.set(jobDir, settled);
  return appended;
}

const pendingAppends = new Map<string, Promise<void>>();

async function appendMessage(jobDir: string, message: object): Promise<void> {
  const output = await openOutput(jobDir);
  try {
    await output.append(message);
  } finally {
    await output.close();
  }
}

async function withState<T>(
  state: StateLike,
  work: (openedState: StateManager) => Promise<T>,
): Promise<T> {
  if (typeof state !== "string") return work(state);
  const openedState = await new StateManager(state).open();
  try {
    return await work(openedState);
  } finally {
    await openedState.close();
  }
}

function stateManagerOf(state: StateLike): StateManager {
  return typeof state === "string" ? new StateManager(state) : state;
}
