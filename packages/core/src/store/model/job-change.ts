import {
  type Attempt,
  allowedTransitions,
  isFinished,
  type Job,
  type JobChange,
  type JobStatus,
  type NewJob,
  type SessionInfo,
  type SessionLeaseHolder,
} from "@herdctl/protocol";
import { addCosts, addUsage, outcomeCodes, startChain } from "@herdctl/protocol/schemas";

type JobChangeDecision =
  | { kind: "apply"; job: Job }
  | { kind: "finished" }
  | { kind: "refuse"; reason: string };

/** Applies a change to a job, or returns why it is not allowed. A finished job is final. */
export function decideJobChange(job: Job, change: JobChange, now: Date): JobChangeDecision {
  if (isFinished(job.status)) return { kind: "finished" };
  const status = change.status ?? job.status;
  if (status !== job.status && !allowedTransitions[job.status].includes(status)) {
    return { kind: "refuse", reason: `a ${job.status} job cannot become ${status}` };
  }
  const outcome = change.outcome !== undefined ? change.outcome : carriedOutcome(job, status);
  const outcomeError = findOutcomeError(status, outcome);
  if (outcomeError !== undefined) return { kind: "refuse", reason: outcomeError };
  const due_at = nextDueAt(job, change, status);
  const waits_for = nextWaitsFor(job, change, { status, due_at });
  const changed = { ...job, ...change, status, outcome, due_at, waits_for };
  if (isFinished(status)) changed.assigned = null;
  return { kind: "apply", job: { ...changed, ...timestampsFor(job, status, now) } };
}

/** The first record of a job. */
export function newJobRecord(newJob: NewJob, id: string, now: Date, outputFile: string): Job {
  const { skipped, ...request } = newJob;
  return {
    ...emptyJob,
    chain: startChain(id),
    ...request,
    id,
    status: skipped ? "skipped" : "pending",
    outcome: skipped ?? null,
    created_at: now.toISOString(),
    finished_at: skipped ? now.toISOString() : null,
    output_file: outputFile,
  };
}

export function addAttemptTotals(job: Job, { cost_usd, usage, crashed }: Attempt): Job {
  if (isFinished(job.status)) return job;
  return {
    ...job,
    cost_usd: addCosts(job.cost_usd, cost_usd),
    usage: addUsage(job.usage, usage),
    crashes: job.crashes + (crashed ? 1 : 0),
  };
}

/** A due time is valid only as long as the status for which it was set. */
function nextDueAt(job: Job, change: JobChange, status: JobStatus): Job["due_at"] {
  if (status !== "pending" && status !== "waiting") return null;
  if (change.due_at !== undefined) return change.due_at;
  return status === job.status ? job.due_at : null;
}

/** Only a job that waits without a due time waits for other jobs. */
function nextWaitsFor(
  job: Job,
  change: JobChange,
  { status, due_at }: Pick<Job, "status" | "due_at">,
): string[] {
  return status === "waiting" && due_at === null ? (change.waits_for ?? job.waits_for) : [];
}

/** The reason for waiting is no longer valid once the job runs again. */
function carriedOutcome(job: Job, status: JobStatus): Job["outcome"] {
  return status === "waiting" && job.status === "waiting" ? job.outcome : null;
}

function findOutcomeError(status: JobStatus, outcome: Job["outcome"]): string | undefined {
  if (status === "waiting") return undefined;
  if (status === "pending" || status === "running") {
    return outcome === null ? undefined : `a ${status} job has no outcome yet`;
  }
  if (outcome === null) return `a ${status} job needs an outcome`;
  const allowed: readonly string[] = outcomeCodes[status];
  return allowed.includes(outcome.code)
    ? undefined
    : `\`${outcome.code}\` is not an outcome of a ${status} job`;
}

function timestampsFor(job: Job, status: JobStatus, now: Date): Partial<Job> {
  const at = now.toISOString();
  if (status === "running") return { started_at: job.started_at ?? at };
  if (!isFinished(status)) return {};
  const duration =
    job.started_at === null ? null : Math.max(0, now.getTime() - Date.parse(job.started_at)) / 1000;
  return { finished_at: at, duration_seconds: duration };
}

const emptyJob = {
  trigger_type: "manual",
  triggered_by: null,
  schedule: null,
  priority: 0,
  idempotency_key: null,
  resumed_from: null,
  forked_from: null,
  fork_point: null,
  expand_prompt: false,
  reserved_usd: null,
  session_id: null,
  summary: null,
  cost_usd: null,
  usage: null,
  runtime: null,
  session_home: null,
  credential: null,
  provider: null,
  container_id: null,
  container_image: null,
  claude_version: null,
  metadata: null,
  report: null,
  artifacts: [],
  git: null,
  warnings: [],
  runner: null,
  due_at: null,
  waits_for: [],
  untrusted: false,
  node: null,
  assigned: null,
  attempts: 0,
  crashes: 0,
  started_at: null,
  duration_seconds: null,
} satisfies Partial<Job>;

/** A node and its epoch. */
export interface Assignee {
  node: string;
  epoch: number;
}

export interface LeaseTerms {
  sessionId: string;
  holder: SessionLeaseHolder;
  until: Date;
  /** The current holder, which releases the lease for the new holder. */
  previousHolder?: SessionLeaseHolder;
}

/** Releases the lease, and records `sessionInfo` if the session was opened. */
export interface SessionEnd {
  sessionId: string;
  holder: SessionLeaseHolder;
  sessionInfo?: SessionInfo;
}

export interface JobRetention {
  /** Jobs that finished before this are deleted. */
  finishedBefore?: Date;
  /**
   * Maximum number of finished jobs per agent. Jobs of the last day are kept, so that daily costs
   * are complete.
   */
  keepPerAgent?: number;
  /** Maximum number of jobs per call. A smaller result means that none are left. */
  limit: number;
}

/** A finished job never changes: later changes are not applied. */
export type JobUpdateResult = { applied: boolean; job: Job };
