import type { Environment } from "@herdctl/config";
import type { HookRun, Job } from "@herdctl/protocol";

/** The input of one attempt, for hooks of any type. */
export interface HookAttempt {
  run: HookRun;
  context: HookContext;
  environment: Environment;
  /** The folder of the fleet file. */
  workingDirectory: string;
  /** Its reason is the message why the hook was aborted. */
  signal: AbortSignal;
}

export type HookResult =
  | { ok: true; message: string; output: string }
  | {
      ok: false;
      message: string;
      output: string;
      /** False if another attempt would fail in the same way. */
      isTransient: boolean;
      /** The delay that the receiver asked for, in milliseconds. */
      retryAfterMs?: number;
    };

export function succeeded(message: string, output = ""): HookResult {
  return { ok: true, message, output };
}

export function failed(
  message: string,
  details: { output?: string; isTransient?: boolean; retryAfterMs?: number } = {},
): HookResult {
  return { ok: false, message, output: "", isTransient: true, ...details };
}

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
