import type { Job } from "../state/job.ts";
import type { JobUpdate } from "../state/job-store.ts";
import type { Outcome, OutcomeCode } from "../state/outcome.ts";
import type { ProcessIdentity } from "../state/process-identity.ts";
import type { LeaseHolder } from "../state/session.ts";
import type { NextStep } from "./next-step.ts";
import { outcomes } from "./outcomes.ts";
import { leaseEnd, type PreparedRun, prepareRun, type RunRequest } from "./prepare-run.ts";
import type { RunOrder } from "./run-order.ts";
import { sessionRule } from "./session-plan.ts";
import type { AttemptedAt } from "./settle-run.ts";

export type BegunAttempt =
  | { kind: "begun"; job: Job; order: RunOrder; holder: LeaseHolder; at: AttemptedAt }
  /** Somebody ended it meanwhile, or it was given to another node. */
  | { kind: "not_ours"; job: Job }
  | { kind: "refused"; job: Job };

type PreparedOrder = Extract<PreparedRun, { kind: "order" }>;

export interface AttemptHands {
  /** What follows when a run could not even be prepared. */
  afterRefusal?(outcome: Outcome): Promise<NextStep>;
  /** The process that will carry it out, where it is not this one. */
  runnerFor?(order: RunOrder): ProcessIdentity | undefined;
}

/** Prepares a run and records that it begins, or that it does not. */
export async function beginAttempt(
  request: RunRequest,
  { afterRefusal = finish, runnerFor }: AttemptHands = {},
): Promise<BegunAttempt> {
  const prepared = await prepareRun(request).catch((error: unknown) => {
    if (!request.signal.aborted) throw error;
    const code = request.signal.reason === "interrupted" ? "interrupted" : "cancelled";
    return { kind: "refused" as const, outcome: plainOutcome(code) };
  });
  if (prepared.kind === "refused") {
    const next = await afterRefusal(prepared.outcome);
    return { kind: "refused", job: await refuse(request, next) };
  }
  const { order } = prepared;
  const { by } = request;
  const at = { ...attemptedAt(order, request.job), ...(by && { node: by.node }) };
  const runner = runnerFor?.(order);
  // The session belongs to the process that writes to it.
  const holder = runner ? { ...prepared.holder, ...runner } : prepared.holder;
  const { applied, job } = await recordStart(request, prepared, holder);
  if (applied) return { kind: "begun", job, order, holder, at };
  await request.state.sessions.release(order.session.sessionId, prepared.holder);
  return { kind: "not_ours", job };
}

const finish = async (outcome: Outcome): Promise<NextStep> => ({ kind: "finish", outcome });

export function plainOutcome(code: OutcomeCode): Outcome {
  const { message, hint } = outcomes[code];
  return { code, message, hint };
}

async function refuse({ state, job: { id }, by }: RunRequest, next: NextStep): Promise<Job> {
  const { outcome } = next;
  const status = outcome.code === "cancelled" ? "cancelled" : "failed";
  if (next.kind !== "retry" && next.kind !== "wait")
    return (await state.jobs.update(id, { status, outcome, due_at: null })).job;
  // It counts as an attempt, so that it is not tried for ever.
  const { applied, job } = await state.jobs.startAttempt(id, { due_at: null }, undefined, by);
  if (!applied) return job;
  const end = { outcome_code: outcome.code, session_id: null, cost_usd: null };
  const later = { status: "waiting" as const, outcome, due_at: next.due_at };
  return (await state.jobs.endAttempt(id, job.attempts, end, later)).job;
}

function attemptedAt(
  { agent, place, cwd, configDir }: RunOrder,
  { schedule, trigger_type }: Job,
): AttemptedAt {
  return {
    agent: agent.name,
    place,
    cwd,
    configDir,
    expiresAfter: agent.session.expires,
    ownOf: sessionRule(agent, schedule).ownOf,
    inChat: trigger_type === "chat",
  };
}

async function recordStart(
  { state, job, agent, by }: RunRequest,
  { order, holder: from, warnings }: PreparedOrder,
  holder: LeaseHolder,
): Promise<JobUpdate> {
  const { sessionId } = order.session;
  const { job_id: _job, node: _node, ...runner } = holder;
  const change = {
    runner,
    runtime: agent.runtime.type,
    place: order.place,
    claude_version: order.claude.version,
    session_id: sessionId,
    due_at: null,
    warnings: [...new Set([...job.warnings, ...warnings])],
  };
  const lease = { sessionId, holder, until: leaseEnd(agent), from };
  return state.jobs.startAttempt(job.id, change, lease, by);
}
