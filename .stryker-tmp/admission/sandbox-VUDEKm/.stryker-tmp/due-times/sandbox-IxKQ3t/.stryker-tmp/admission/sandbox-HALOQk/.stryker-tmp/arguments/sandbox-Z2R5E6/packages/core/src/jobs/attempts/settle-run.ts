import {
  type Attempt,
  type FleetEvent,
  type Job,
  type JobChange,
  outcomes,
  type SessionHomeKind,
  type SessionInfo,
  type SessionLeaseHolder,
} from "@herdctl/protocol";
import { mergeJobGit } from "@herdctl/protocol/schemas";
import type { RunReport } from "../../runner/contract/run-report.ts";
import type { StateManager } from "../../store/state-manager.ts";
import type { NextStep } from "./next-step.ts";

/** Where an attempt ran, for the record of its session. */
export interface SessionContext {
  agent: string;
  place: SessionHomeKind;
  cwd: string;
  configDir: string;
  /** How long the session may be resumed, in milliseconds. */
  expiresAfterMs: number;
  /** The schedule that owns the session. */
  ownerSchedule: string | null;
  /** The session belongs to a chat conversation. */
  isChat: boolean;
  /** The node that ran the attempt, if it was not this one. */
  node?: string | null;
}

/**
 * Records the result of an attempt, its session, and whether the job is finished, in one
 * transaction. If this is interrupted, the attempt stays open and can be settled again from its
 * report.
 */
export async function settleRun(
  state: StateManager,
  report: RunReport,
  context: SessionContext,
  holder: SessionLeaseHolder,
  next: NextStep,
): Promise<Job> {
  await state.approvals.voidAttempt(report.job_id, report.attempt);
  const end = {
    outcome_code: report.outcome.code,
    session_id: report.session_opened ? report.session_id : null,
    cost_usd: report.cost_usd,
    usage: report.usage,
    crashed: report.crashed,
  };
  const earlierAttempts = report.session_opened ? [] : await state.jobs.listAttempts(report.job_id);
  const change = (job: Job) => ({
    ...changeFromReport(job, report, earlierAttempts),
    ...changeFromNextStep(next),
  });
  const sessionInfo = report.session_opened ? sessionInfoOf(report, context) : undefined;
  const session = { sessionId: report.session_id, holder, sessionInfo };
  return (await state.jobs.endAttempt(report.job_id, report.attempt, end, change, session)).job;
}

function sessionInfoOf(report: RunReport, context: SessionContext): SessionInfo {
  const { agent, place, cwd, configDir: config_dir } = context;
  return {
    session_id: report.session_id,
    agent,
    session_home: place,
    cwd,
    config_dir,
    job_id: report.job_id,
    ...(context.isChat && { in_chat: true }),
    ...(context.node != null && { node: context.node }),
    expires_at: new Date(Date.parse(report.finished_at) + context.expiresAfterMs).toISOString(),
    turns: report.turns,
    // Resuming a session by hand does not change its owner.
    ...(context.ownerSchedule !== null && { schedule: context.ownerSchedule }),
    ...(report.session_totals && { cost_total_usd: report.session_totals.costUsd }),
  };
}

function changeFromReport(
  job: Job,
  report: RunReport,
  earlierAttempts: readonly Attempt[],
): JobChange {
  return {
    summary: report.summary ?? job.summary,
    credential: report.credential,
    ...(report.container_id !== null && { container_id: report.container_id }),
    ...(report.container_image !== null && { container_image: report.container_image }),
    claude_version: report.claude_version,
    metadata: report.metadata,
    report: report.report ?? job.report,
    artifacts: report.artifacts,
    git: mergeJobGit(job.git, report.git),
    warnings: [...new Set([...job.warnings, ...report.warnings])],
    ...(report.session_opened ? { session_id: report.session_id } : {}),
    ...(wasNeverOpened(job, report, earlierAttempts) ? { session_id: null } : {}),
  };
}

/** The session id was chosen before the start. Without a start, the session does not exist. */
function wasNeverOpened(job: Job, report: RunReport, earlierAttempts: readonly Attempt[]): boolean {
  if (report.session_opened || job.resumed_from === report.session_id) return false;
  return !earlierAttempts.some(({ session_id }) => session_id === report.session_id);
}

function changeFromNextStep(next: NextStep): JobChange {
  const { outcome } = next;
  if (next.kind === "retry" || next.kind === "wait") {
    return { status: "waiting", outcome, due_at: next.due_at };
  }
  const { status } = outcomes[outcome.code];
  return { status: status === "skipped" ? "failed" : status, outcome, due_at: null };
}

const endEventTypes = {
  completed: "job:completed",
  failed: "job:failed",
  cancelled: "job:cancelled",
  skipped: "job:skipped",
} as const;

/** The event for a job whose attempt ended: the end of the job, or `job:waiting`. */
export function endEventOf(job: Job): FleetEvent {
  const type =
    job.status in endEventTypes
      ? endEventTypes[job.status as keyof typeof endEventTypes]
      : "job:waiting";
  return { type, job };
}
