import type { Job } from "../state/job.ts";
import type { Outcome, OutcomeCode } from "../state/outcome.ts";
import type { LeaseHolder } from "../state/session.ts";
import { outcomes } from "./outcomes.ts";
import { prepareRun, type RunRequest } from "./prepare-run.ts";
import type { RunOrder } from "./run-order.ts";
import type { AttemptedAt } from "./settle-run.ts";

export type BegunAttempt =
  | { kind: "begun"; job: Job; order: RunOrder; holder: LeaseHolder; at: AttemptedAt }
  | { kind: "refused"; job: Job };

/** Prepares a run and records that it begins, or that it never will. */
export async function beginAttempt(request: RunRequest): Promise<BegunAttempt> {
  const prepared = await prepareRun(request).catch((error: unknown) => {
    if (!request.signal.aborted) throw error;
    const code = request.signal.reason === "interrupted" ? "interrupted" : "cancelled";
    return { kind: "refused" as const, outcome: plainOutcome(code) };
  });
  if (prepared.kind === "refused")
    return { kind: "refused", job: await refuse(request, prepared.outcome) };
  const { order, holder, warnings } = prepared;
  const at = attemptedAt(order);
  return { kind: "begun", job: await recordStart(request, order, at, warnings), order, holder, at };
}

export function plainOutcome(code: OutcomeCode): Outcome {
  const { message, hint } = outcomes[code];
  return { code, message, hint };
}

async function refuse({ state, job }: RunRequest, outcome: Outcome): Promise<Job> {
  const status = outcome.code === "cancelled" ? "cancelled" : "failed";
  return (await state.jobs.update(job.id, { status, outcome, due_at: null })).job;
}

function attemptedAt({ agent, place, cwd, configDir }: RunOrder): AttemptedAt {
  return { agent: agent.name, place, cwd, configDir, expiresAfter: agent.session.expires };
}

async function recordStart(
  { state, job, agent }: RunRequest,
  order: RunOrder,
  at: AttemptedAt,
  warnings: string[],
): Promise<Job> {
  const { sessionId: session_id } = order.session;
  const started = await state.jobs.startAttempt(job.id, {
    runtime: agent.runtime.type,
    place: at.place,
    claude_version: order.claude.version,
    session_id,
    due_at: null,
    warnings: [...new Set([...job.warnings, ...warnings])],
  });
  return started.job;
}
