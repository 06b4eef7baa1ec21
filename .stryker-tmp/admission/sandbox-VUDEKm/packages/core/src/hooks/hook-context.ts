import type { HookRun, Job } from "@herdctl/protocol";

/** The data that a hook receives. */
export interface HookContext {
  type: "job.finished";
  timestamp: string;
  fleet: string;
  hook: Pick<HookRun, "id" | "event"> & { attempt: number };
  job: ReportedJob;
}

type ReportedJob = Omit<Job, "prompt" | "runner" | "idempotency_key" | "due_at" | "priority">;

/** The prompt is left out: it may be long or confidential, and receivers can request the job. */
export function createHookContext(run: HookRun, job: Job, fleet: string): HookContext {
  const {
    prompt: _,
    runner: __,
    idempotency_key: ___,
    due_at: ____,
    priority: _____,
    ...reportedJob
  } = job;
  return {
    type: "job.finished",
    timestamp: job.finished_at ?? run.created_at,
    fleet,
    hook: { id: run.id, event: run.event, attempt: run.attempts },
    job: reportedJob,
  };
}
