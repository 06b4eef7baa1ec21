import type { ResolvedAgent } from "@herdctl/config";
import {
  type Attempt,
  type FleetEventDetails,
  type Job,
  type JobChange,
  type Outcome,
  outcomes,
  type Session,
  type SessionHomeKind,
  type SessionInfo,
  type SessionLeaseHolder,
} from "@herdctl/protocol";
import { mergeJobGit } from "@herdctl/protocol/schemas";
import type { RunReport } from "../../runner/contract/run-report.ts";
import type { StateManager } from "../../store/state-manager.ts";

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
  const sessionInfo = report.session_opened
    ? sessionInfoOf(report, context, await state.sessions.get(report.session_id))
    : undefined;
  const session = { sessionId: report.session_id, holder, sessionInfo };
  return (await state.jobs.endAttempt(report.job_id, report.attempt, end, change, session)).job;
}

function sessionInfoOf(
  report: RunReport,
  context: SessionContext,
  known: Session | undefined,
): SessionInfo {
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
    // The report counts only the turns of its own process.
    turns: (known?.turns ?? 0) + report.turns,
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
    provider: report.provider,
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
export function endEventOf(job: Job): FleetEventDetails {
  const type =
    job.status in endEventTypes
      ? endEventTypes[job.status as keyof typeof endEventTypes]
      : "job:waiting";
  return { type, job };
}

export interface AttemptFacts {
  /** The number of the attempt that has just ended. */
  attempt: number;
  outcome: Outcome;
  /** The runner died during the attempt. */
  crashed: boolean;
  /** Attempts of the job so far; may include this one. */
  attempts: readonly Pick<Attempt, "number" | "outcome_code" | "crashed">[];
  retry: ResolvedAgent["retry"];
  now: Date;
  /** From 0 to 1. */
  random: number;
}

/** `outcome` is the outcome to record, of the attempt or of several attempts together. */
export type NextStep =
  | { kind: "finish"; outcome: Outcome }
  | { kind: "retry"; outcome: Outcome; due_at: string }
  | { kind: "wait"; outcome: Outcome; due_at: string }
  /** The job is finished, and the credential is paused until a person resumes it. */
  | { kind: "pause"; outcome: Outcome };

const maxCrashes = 3;

/** Whether the decision depends on earlier attempts, which must then be read. */
export function needsEarlierAttempts({ code }: Outcome): boolean {
  const { retry } = outcomes[code];
  return retry === "wait" || retry === "backoff";
}

export function nextStep(facts: AttemptFacts): NextStep {
  const { outcome } = facts;
  const { retry } = outcomes[outcome.code];
  if (retry === "no") return { kind: "finish", outcome };
  // defence: no-retry-on-refused-credential
  if (retry === "person") return { kind: "pause", outcome };
  const crashes = countCrashes(facts);
  if (crashes >= /* defence: max-crashes */ maxCrashes)
    return { kind: "finish", outcome: tooManyCrashes(crashes, outcome) };
  return retry === "wait" ? waitForReset(facts) : retryWithBackoff(facts);
}

function countCrashes(facts: AttemptFacts): number {
  return earlierAttempts(facts).filter(({ crashed }) => crashed).length + (facts.crashed ? 1 : 0);
}

function tooManyCrashes(crashes: number, last: Outcome): Outcome {
  return {
    code: "runtime_crashed",
    message: `The process that ran this job died ${crashes} times. The last time: ${last.message}`,
    hint: "Check the job's stderr.log and the fleet's log, then resume the job with `herdctl trigger --resume`.",
  };
}

const resetMarginMs = 1_000;
const defaultWaitMs = 5 * 60_000;

/**
 * A usage limit is not a failure of the job. It only extends the minimum wait before the next
 * attempt.
 */
function waitForReset(facts: AttemptFacts): NextStep {
  const { outcome, now } = facts;
  const resetMs = outcome.resets_at
    ? Date.parse(outcome.resets_at) + resetMarginMs
    : now.getTime() + defaultWaitMs;
  const earlierWaits = earlierAttempts(facts).filter(
    (attempt) => retryKindOf(attempt) === "wait",
  ).length;
  const earliestMs = now.getTime() + Math.min(defaultWaitMs, resetMarginMs * 2 ** earlierWaits);
  return { kind: "wait", outcome, due_at: new Date(Math.max(resetMs, earliestMs)).toISOString() };
}

const maxBackoffMs = 60 * 60_000;

function retryWithBackoff(facts: AttemptFacts): NextStep {
  const { outcome, retry, now, random } = facts;
  const failures = earlierAttempts(facts).filter(
    (attempt) => retryKindOf(attempt) === "backoff",
  ).length;
  // defence: max-attempts
  if (failures + 1 >= retry.max_attempts) return { kind: "finish", outcome };
  const backoffMs = Math.min(maxBackoffMs, retry.backoff * 2 ** failures);
  const jitteredMs = Math.min(maxBackoffMs, backoffMs * (0.8 + 0.4 * random));
  return { kind: "retry", outcome, due_at: new Date(now.getTime() + jitteredMs).toISOString() };
}

/** An attempt without an outcome ended for an unknown reason. */
function retryKindOf({ outcome_code }: AttemptFacts["attempts"][number]): string {
  return outcome_code === null ? "backoff" : outcomes[outcome_code].retry;
}

function earlierAttempts({ attempt, attempts }: AttemptFacts): AttemptFacts["attempts"] {
  return attempts.filter(({ number }) => number < attempt);
}
