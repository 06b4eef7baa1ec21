import type { HookRun } from "../state/hook-run.ts";
import type { Job } from "../state/job.ts";

/** All that a hook is told. */
export interface HookContext {
  type: "job.finished";
  timestamp: string;
  fleet: string;
  hook: Pick<HookRun, "id" | "event"> & { attempt: number };
  job: ReportedJob;
}

type ReportedJob = Omit<Job, "prompt" | "runner" | "idempotency_key" | "due_at" | "priority">;

/** A prompt may be long and not for every ear; whoever needs it asks for the job. */
export function contextOf(run: HookRun, job: Job, fleet: string): HookContext {
  const {
    prompt: _,
    runner: __,
    idempotency_key: ___,
    due_at: ____,
    priority: _____,
    ...told
  } = job;
  return {
    type: "job.finished",
    timestamp: job.finished_at ?? run.created_at,
    fleet,
    hook: { id: run.id, event: run.event, attempt: run.attempts },
    job: told,
  };
}
