import { join } from "node:path";
import { chooseTools } from "../herd-tools/choose-tools.ts";
import { ApprovalDesk, type AskPerson } from "../runner/approval-desk.ts";
import { beginAttempt } from "../runner/begin-attempt.ts";
import { JobExecutor } from "../runner/job-executor.ts";
import type { RunRequest } from "../runner/prepare-run.ts";
import type { RunWatch } from "../runner/running-attempt.ts";
import { RuntimeFactory } from "../runner/runtime/factory.ts";
import { settleRun } from "../runner/settle-run.ts";
import { claimRun } from "../runner-process/claim-run.ts";
import type { Job } from "../state/job.ts";
import type { StateManager } from "../state/state-manager.ts";
import { definedOnly } from "./defined-only.ts";

export interface JobWatch extends Pick<RunWatch, "onMessage" | "onError"> {
  /** Puts a tool's request before a person; undefined means that nobody is there to be asked. */
  askPerson?: AskPerson;
}

/** A pending job, run in this process in one attempt to its end and recorded. */
export async function performJob(request: RunRequest, watch: JobWatch = {}): Promise<Job> {
  const { state, agent, environment } = request;
  const begun = await beginAttempt(request);
  if (begun.kind !== "begun") return withoutHooks(state, begun.job);
  const { order, holder, at } = begun;
  // Whoever finds this attempt open after our death knows by this that it was begun.
  claimRun({ stateDir: state.stateDir, order, environment: definedOnly(environment) });
  const desk = new ApprovalDesk(state, order, watch.askPerson);
  const runtime = RuntimeFactory.create(agent, { stateDir: state.stateDir, environment });
  const executor = new JobExecutor(runtime, { stateDir: state.stateDir, environment });
  const jobDir = join(state.stateDir, "jobs", order.jobId);
  const run: RunWatch = {
    onMessage: (message) => watch.onMessage?.(message),
    onError: (error) => watch.onError?.(error),
    onPermission: desk.answer,
    onQuestion: desk.question,
    ownTools: (doors) => chooseTools({ ...doors, order, jobDir, stateDir: state.stateDir }),
  };
  const report = await executor.execute(order, run, request.signal);
  const next = { kind: "finish" as const, outcome: report.outcome };
  const ended = await settleRun(state, report, at, holder, next);
  return withoutHooks(state, ended);
}

/** Whoever runs an agent in its own program has the result in hand: no later fleet tells of it. */
export async function withoutHooks(state: StateManager, job: Job): Promise<Job> {
  await state.hooks.decide(new Map([[job.id, []]]));
  return job;
}
