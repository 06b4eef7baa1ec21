import type { Job, JobChange, NewJob } from "./job.ts";
import type { JobUpdate } from "./job-store.ts";
import { openOutput } from "./output-writer.ts";
import type { Session, SessionInfo } from "./session.ts";
import { StateManager } from "./state-manager.ts";

/** An open state, or the directory of one that is opened for this call alone. */
export type StateLike = StateManager | string;

/** Durable when it resolves. With an idempotency key seen before: the first job. */
export function createJob(state: StateLike, job: NewJob): Promise<Job> {
  return withState(state, async (open) => (await open.jobs.create(job)).job);
}

/** Not applied to a job that has finished: its record is final. */
export function updateJob(state: StateLike, id: string, change: JobChange): Promise<JobUpdate> {
  return withState(state, (open) => open.jobs.update(id, change));
}

/** What becomes known of a session by a run; what is left out stays as it was. */
export function saveSessionInfo(state: StateLike, info: SessionInfo): Promise<Session> {
  return withState(state, (open) => open.sessions.save(info));
}

/** One message more in a job's log, in the order of the calls. For many, keep an `openOutput`. */
export function appendJobOutput(state: StateLike, jobId: string, message: object): Promise<void> {
  const jobDir = locate(state).jobDir(jobId);
  const appended = (appends.get(jobDir) ?? Promise.resolve()).then(() => append(jobDir, message));
  const settled = appended
    .catch(() => {})
    .then(() => {
      if (appends.get(jobDir) === settled) appends.delete(jobDir);
    });
  appends.set(jobDir, settled);
  return appended;
}

const appends = new Map<string, Promise<void>>();

async function append(jobDir: string, message: object): Promise<void> {
  const output = await openOutput(jobDir);
  try {
    await output.append(message);
  } finally {
    await output.close();
  }
}

async function withState<T>(
  state: StateLike,
  work: (open: StateManager) => Promise<T>,
): Promise<T> {
  if (typeof state !== "string") return work(state);
  const open = await new StateManager(state).open();
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

function locate(state: StateLike): StateManager {
  return typeof state === "string" ? new StateManager(state) : state;
}
