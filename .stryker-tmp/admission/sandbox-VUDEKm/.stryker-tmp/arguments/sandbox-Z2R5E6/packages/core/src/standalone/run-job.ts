import { join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { ApprovalRequests, type AskPerson } from "../jobs/attempts/approval-requests.ts";
import { beginAttempt } from "../jobs/attempts/begin-attempt.ts";
import type { RunRequest } from "../jobs/attempts/prepare-run.ts";
import { settleRun } from "../jobs/attempts/settle-run.ts";
import { dropUndefined } from "../lib/drop-undefined.ts";
import { chooseTools } from "../runner/agent-tools/choose-tools.ts";
import { JobExecutor } from "../runner/execution/job-executor.ts";
import type { RunHandlers } from "../runner/execution/running-attempt.ts";
import { claimRun } from "../runner/process/claim-run.ts";
import { RuntimeFactory } from "../runner/runtimes/runtime-factory.ts";
import type { StateManager } from "../store/state-manager.ts";

export interface JobCallbacks extends Pick<RunHandlers, "onMessage" | "onError"> {
  /** Asks a person to decide on a request; undefined if there is no person to ask. */
  askPerson?: AskPerson;
}

/** Runs a pending job in this process with one attempt, and records the result. */
export async function runJob(request: RunRequest, callbacks: JobCallbacks = {}): Promise<Job> {
  const { state, agent, environment } = request;
  const begun = await beginAttempt(request);
  if (begun.kind !== "begun") return skipHooks(state, begun.job);
  const { order, holder, sessionContext } = begun;
  // If this process dies, the claim tells a later fleet that the attempt was started.
  claimRun({ stateDir: state.stateDir, order, environment: dropUndefined(environment) });
  const approvals = new ApprovalRequests(state, order, callbacks.askPerson);
  const runtime = RuntimeFactory.create(agent, { stateDir: state.stateDir, environment });
  const executor = new JobExecutor(runtime, { stateDir: state.stateDir, environment });
  const jobDir = join(state.stateDir, "jobs", order.jobId);
  const run: RunHandlers = {
    onMessage: (message) => callbacks.onMessage?.(message),
    onError: (error) => callbacks.onError?.(error),
    onPermission: approvals.answer,
    onQuestion: approvals.question,
    createTools: (context) => chooseTools({ ...context, order, jobDir, stateDir: state.stateDir }),
  };
  const report = await executor.execute(order, run, request.signal);
  const next = { kind: "finish" as const, outcome: report.outcome };
  const ended = await settleRun(state, report, sessionContext, holder, next);
  return skipHooks(state, ended);
}

/** A program that runs an agent itself receives the result, so no later fleet must run hooks for it. */
export async function skipHooks(state: StateManager, job: Job): Promise<Job> {
  await state.hooks.enqueue(new Map([[job.id, []]]));
  return job;
}
