import {
  type Job,
  type JobChange,
  type Outcome,
  type OutcomeCode,
  outcomes,
  type ProcessIdentity,
  type SessionLeaseHolder,
} from "@herdctl/protocol";
import type { RunOrder } from "../../runner/contract/run-order.ts";
import type { JobUpdateResult } from "../../store/contracts/job-store.ts";
import type { NextStep } from "./next-step.ts";
import { leaseExpiry, type PreparedRun, prepareRun, type RunRequest } from "./prepare-run.ts";
import { sessionRule } from "./session-plan.ts";
import type { SessionContext } from "./settle-run.ts";

export type BeginAttemptResult =
  | {
      kind: "begun";
      job: Job;
      order: RunOrder;
      holder: SessionLeaseHolder;
      sessionContext: SessionContext;
    }
  /** The job was ended in the meantime, or assigned to another node. */
  | { kind: "not_ours"; job: Job }
  | { kind: "refused"; job: Job };

type PreparedOrder = Extract<PreparedRun, { kind: "order" }>;

export interface BeginAttemptHooks {
  /** Decides what follows if a run cannot be prepared. */
  onRefused?(outcome: Outcome): Promise<NextStep>;
  /** The process that will execute the attempt, if it is not this one. */
  reserveRunner?(order: RunOrder): ProcessIdentity | undefined;
}

/** Prepares a run and records that it starts, or why it does not. */
export async function beginAttempt(
  request: RunRequest,
  { onRefused = finishWithOutcome, reserveRunner }: BeginAttemptHooks = {},
): Promise<BeginAttemptResult> {
  const prepared = await prepareRun(request).catch((error: unknown) => {
    if (!request.signal.aborted) throw error;
    const code = request.signal.reason === "interrupted" ? "interrupted" : "cancelled";
    return { kind: "refused" as const, outcome: defaultOutcome(code) };
  });
  if (prepared.kind === "refused") {
    const next = await onRefused(prepared.outcome);
    return { kind: "refused", job: await recordRefusal(request, next) };
  }
  const { order } = prepared;
  const { by } = request;
  const sessionContext = { ...sessionContextOf(order, request.job), ...(by && { node: by.node }) };
  const runner = reserveRunner?.(order);
  // The session belongs to the process that writes to it.
  const holder = runner ? { ...prepared.holder, ...runner } : prepared.holder;
  const { applied, job } = await recordStart(request, prepared, holder);
  if (applied) return { kind: "begun", job, order, holder, sessionContext };
  await request.state.sessions.release(order.session.sessionId, prepared.holder);
  return { kind: "not_ours", job };
}

const finishWithOutcome = async (outcome: Outcome): Promise<NextStep> => ({
  kind: "finish",
  outcome,
});

export function defaultOutcome(code: OutcomeCode): Outcome {
  const { message, hint } = outcomes[code];
  return { code, message, hint };
}

async function recordRefusal({ state, job: { id }, by }: RunRequest, next: NextStep): Promise<Job> {
  const { outcome } = next;
  const status = outcome.code === "cancelled" ? "cancelled" : "failed";
  if (next.kind !== "retry" && next.kind !== "wait")
    return (await state.jobs.update(id, { status, outcome, due_at: null })).job;
  // The refusal counts as an attempt, so it is not retried forever.
  const { applied, job } = await state.jobs.startAttempt(id, { due_at: null }, undefined, by);
  if (!applied) return job;
  const end = { outcome_code: outcome.code, session_id: null, cost_usd: null };
  const waitingChange = { status: "waiting" as const, outcome, due_at: next.due_at };
  return (await state.jobs.endAttempt(id, job.attempts, end, waitingChange)).job;
}

function sessionContextOf(
  { agent, place, cwd, configDir }: RunOrder,
  { schedule, trigger_type }: Job,
): SessionContext {
  return {
    agent: agent.name,
    place,
    cwd,
    configDir,
    expiresAfterMs: agent.session.expires,
    ownerSchedule: sessionRule(agent, schedule).ownerSchedule,
    isChat: trigger_type === "chat",
  };
}

async function recordStart(
  { state, job, agent, by }: RunRequest,
  { order, holder: previousHolder, warnings }: PreparedOrder,
  holder: SessionLeaseHolder,
): Promise<JobUpdateResult> {
  const { sessionId } = order.session;
  const { job_id: _job, node: _node, ...runner } = holder;
  const change: Omit<JobChange, "status"> = {
    runner,
    runtime: agent.runtime.type,
    session_home: order.place,
    claude_version: order.claude.version,
    session_id: sessionId,
    due_at: null,
    warnings: [...new Set([...job.warnings, ...warnings])],
  };
  const lease = { sessionId, holder, until: leaseExpiry(agent), previousHolder };
  return state.jobs.startAttempt(job.id, change, lease, by);
}
