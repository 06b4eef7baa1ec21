import { join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { ApprovalRequests, type AskPerson } from "../jobs/attempts/approval-requests.ts";
import { beginAttempt } from "../jobs/attempts/begin-attempt.ts";
import type { RunRequest } from "../jobs/attempts/prepare-run.ts";
import { settleRun } from "../jobs/attempts/settle-run.ts";
import { dropUndefined } from "../lib/canonical-json.ts";
import { chooseTools } from "../runner/agent-tools/choose-tools.ts";
import { RunnerError } from "../runner/contract/errors.ts";
import type { RunOrder } from "../runner/contract/run-order.ts";
import type { RunReport } from "../runner/contract/run-report.ts";
import { toRefusal } from "../runner/execution/classify-outcome.ts";
import { JobExecutor } from "../runner/execution/job-executor.ts";
import type { RunHandlers } from "../runner/execution/running-attempt.ts";
import { claimRun } from "../runner/process/run-attempt.ts";
import { minimalReport } from "../runner/recovery/report-from-log.ts";
import { RuntimeFactory } from "../runner/runtimes/runtime-factory.ts";
import type { StateManager } from "../store/state-manager.ts";

export interface JobCallbacks extends Pick<RunHandlers, "onMessage" | "onError"> {
  /** Asks a person to decide on a request; undefined if there is no person to ask. */
  askPerson?: AskPerson;
}

/** Runs a pending job in this process with one attempt, and records the result. */
export async function runJob(request: RunRequest, callbacks: JobCallbacks = {}): Promise<Job> {
  const { state } = request;
  const begun = await beginAttempt(request);
  if (begun.kind === "not_ours")
    throw new RunnerError("another process has started this job", begun.job.id);
  if (begun.kind === "refused") return skipHooks(state, begun.job);
  const { order, holder, sessionContext } = begun;
  const report = await execute(request, order, callbacks).catch((error: unknown) => {
    callbacks.onError?.(error);
    return reportOfFailure(order, error);
  });
  const next = { kind: "finish" as const, outcome: report.outcome };
  const ended = await settleRun(state, report, sessionContext, holder, next);
  return skipHooks(state, ended);
}

async function execute(
  { state, agent, environment, signal }: RunRequest,
  order: RunOrder,
  callbacks: JobCallbacks,
): Promise<RunReport> {
  const { stateDir } = state;
  // If this process dies, the claim tells a later run or fleet that the attempt was started.
  claimRun({ stateDir, order, environment: dropUndefined(environment), isStandalone: true });
  const approvals = new ApprovalRequests(state, order, callbacks.askPerson);
  const runtime = RuntimeFactory.create(agent, { stateDir, environment });
  const executor = new JobExecutor(runtime, { stateDir, environment });
  const jobDir = join(stateDir, "jobs", order.jobId);
  const handlers: RunHandlers = {
    onMessage: (message) => callbacks.onMessage?.(message),
    onError: (error) => callbacks.onError?.(error),
    onPermission: approvals.answer,
    onQuestion: approvals.question,
    createTools: (context) => chooseTools({ ...context, order, jobDir, stateDir }),
  };
  return await executor.execute(order, handlers, signal);
}

/** The run failed outside of its runtime, so there may be no report. */
function reportOfFailure({ jobId, attempt, session }: RunOrder, error: unknown): RunReport {
  const { sessionId } = session;
  return minimalReport({ jobId, attempt, sessionId }, { refused: toRefusal(error) });
}

/** A program that runs an agent itself receives the result, so no later fleet must run hooks for it. */
export async function skipHooks(state: StateManager, job: Job): Promise<Job> {
  await state.hooks.enqueue(new Map([[job.id, []]]));
  return job;
}
