import type { Attempt, Job, JobChange, Place } from "../state/job.ts";
import type { LeaseHolder, SessionInfo } from "../state/session.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { NextStep } from "./next-step.ts";
import { outcomes } from "./outcomes.ts";
import type { RunReport } from "./run-report.ts";

/** Where an attempt took place: what is recorded of its session. */
export interface AttemptedAt {
  agent: string;
  place: Place;
  cwd: string;
  configDir: string;
  /** How long the session may be gone on with, in milliseconds. */
  expiresAfter: number;
  /** The schedule whose own the session is. */
  ownOf: string | null;
  /** It is a conversation's own. */
  inChat: boolean;
  /** Where that was, if it was not here. */
  node?: string | null;
}

/**
 * Records what an attempt came to, what is known of its session, and whether the job is over with
 * it, all at once: whoever finds the attempt open can settle it from the report without harm.
 */
export async function settleRun(
  state: StateManager,
  report: RunReport,
  at: AttemptedAt,
  holder: LeaseHolder,
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
  const before = report.session_opened ? [] : await state.jobs.attempts(report.job_id);
  const change = (job: Job) => ({ ...learned(job, report, before), ...ending(next) });
  const saved = report.session_opened ? sessionOf(report, at) : undefined;
  const session = { sessionId: report.session_id, holder, saved };
  return (await state.jobs.endAttempt(report.job_id, report.attempt, end, change, session)).job;
}

function sessionOf(report: RunReport, at: AttemptedAt): SessionInfo {
  const { agent, place, cwd, configDir: config_dir } = at;
  return {
    session_id: report.session_id,
    agent,
    place,
    cwd,
    config_dir,
    job_id: report.job_id,
    ...(at.inChat && { in_chat: true }),
    ...(at.node != null && { node: at.node }),
    expires_at: new Date(Date.parse(report.finished_at) + at.expiresAfter).toISOString(),
    turns: report.turns,
    // Whoever goes on in it by hand leaves it whose it is.
    ...(at.ownOf !== null && { schedule: at.ownOf }),
    ...(report.session_totals && { cost_total_usd: report.session_totals.costUsd }),
  };
}

function learned(job: Job, report: RunReport, before: readonly Attempt[]): JobChange {
  return {
    summary: report.summary ?? job.summary,
    credential: report.credential,
    ...(report.container_id !== null && { container_id: report.container_id }),
    ...(report.container_image !== null && { container_image: report.container_image }),
    claude_version: report.claude_version,
    metadata: report.metadata,
    report: report.report ?? job.report,
    artifacts: report.artifacts,
    git: withEarlier(job.git, report),
    warnings: [...new Set([...job.warnings, ...report.warnings])],
    ...(report.session_opened ? { session_id: report.session_id } : {}),
    ...(neverOpened(job, report, before) ? { session_id: null } : {}),
  };
}

/** Attempts of a job write to one reference: together they are what the job has committed. */
function withEarlier(earlier: Job["git"], { git }: Pick<RunReport, "git">): Job["git"] {
  if (git === null || earlier === null) return git ?? earlier;
  return {
    ...git,
    head_before: earlier.head_before,
    ref: git.ref ?? earlier.ref,
    commits: earlier.commits + git.commits,
    branch: git.branch ?? earlier.branch,
    other_refs: [...new Set([...earlier.other_refs, ...git.other_refs])],
  };
}

/** The id of a session was chosen before the start; without a start there is no such session. */
function neverOpened(job: Job, report: RunReport, before: readonly Attempt[]): boolean {
  if (report.session_opened || job.resumed_from === report.session_id) return false;
  return !before.some(({ session_id }) => session_id === report.session_id);
}

function ending(next: NextStep): JobChange {
  const { outcome } = next;
  if (next.kind === "retry" || next.kind === "wait") {
    return { status: "waiting", outcome, due_at: next.due_at };
  }
  const { status } = outcomes[outcome.code];
  return { status: status === "skipped" ? "failed" : status, outcome, due_at: null };
}
