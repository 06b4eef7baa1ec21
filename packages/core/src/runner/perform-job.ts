import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { Job } from "../state/job.ts";
import type { Outcome } from "../state/outcome.ts";
import { ApprovalDesk, type AskPerson } from "./approval-desk.ts";
import { JobExecutor } from "./job-executor.ts";
import { outcomes } from "./outcomes.ts";
import { prepareRun, type RunRequest } from "./prepare-run.ts";
import { RuntimeFactory } from "./runtime/factory.ts";
import { settleRun } from "./settle-run.ts";

export interface JobWatch {
  onMessage?(message: SDKMessage): void;
  /** Puts a tool's request before a person; undefined means that nobody is there to be asked. */
  askPerson?: AskPerson;
  /** The error that broke the run off, beside the outcome that tells of it. */
  onError?(error: unknown): void;
}

/** A pending job, run in this process to its end and recorded. */
export async function performJob(request: RunRequest, watch: JobWatch = {}): Promise<Job> {
  const { state, job, agent } = request;
  const prepared = await prepareRun(request).catch((error: unknown) => {
    if (!request.signal.aborted) throw error;
    const { message, hint } = outcomes.cancelled;
    return { kind: "refused" as const, outcome: { code: "cancelled" as const, message, hint } };
  });
  if (prepared.kind === "refused") return recordRefusal(request, prepared.outcome);
  const { order, holder } = prepared;
  await state.jobs.startAttempt(job.id, {
    runtime: agent.runtime.type,
    place: order.place,
    claude_version: order.claude.version,
    runner: { pid: holder.pid, start_time: holder.start_time, boot_id: holder.boot_id },
  });

  const desk = new ApprovalDesk(state, order, watch.askPerson);
  const runtime = RuntimeFactory.create(agent, { stateDir: state.stateDir });
  const executor = new JobExecutor(runtime, {
    stateDir: state.stateDir,
    environment: request.environment,
  });
  const recordSession = (message: SDKMessage) => {
    const isInit = message.type === "system" && message.subtype === "init";
    if (isInit) void state.jobs.update(job.id, { session_id: message.session_id });
    watch.onMessage?.(message);
  };
  const run = { onMessage: recordSession, onPermission: desk.answer, onError: watch.onError };
  const report = await executor.execute(order, run, request.signal);
  const warnings = [...prepared.warnings, ...report.warnings];
  return settleRun(state, order, { ...report, warnings }, holder);
}

async function recordRefusal({ state, job }: RunRequest, outcome: Outcome): Promise<Job> {
  const status = outcome.code === "cancelled" ? "cancelled" : "failed";
  const { job: ended } = await state.jobs.update(job.id, { status, outcome });
  return ended;
}
