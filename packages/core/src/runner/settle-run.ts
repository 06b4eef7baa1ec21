import type { Job } from "../state/job.ts";
import type { LeaseHolder } from "../state/session.ts";
import type { StateManager } from "../state/state-manager.ts";
import { outcomes } from "./outcomes.ts";
import type { RunOrder } from "./run-order.ts";
import type { RunReport } from "./run-report.ts";

/**
 * Records what a run came to. Each step says the same when it is done again, and the job's own end
 * comes last: whoever finds a job unfinished can settle it from the report without harm.
 */
export async function settleRun(
  state: StateManager,
  order: RunOrder,
  report: RunReport,
  holder: LeaseHolder,
): Promise<Job> {
  const { jobId, agent, place, cwd, configDir } = order;
  if (report.session_opened) {
    await state.sessions.save({
      session_id: report.session_id,
      agent: agent.name,
      place,
      cwd,
      config_dir: configDir,
      job_id: jobId,
      expires_at: new Date(Date.parse(report.finished_at) + agent.session.expires).toISOString(),
      turns: report.turns,
      ...(report.session_totals && { cost_total_usd: report.session_totals.costUsd }),
    });
  }
  await state.sessions.release(order.session.sessionId, holder);
  await state.approvals.voidAttempt(jobId, report.attempt);
  await state.jobs.endAttempt(jobId, report.attempt, {
    outcome_code: report.outcome.code,
    session_id: report.session_opened ? report.session_id : null,
    cost_usd: report.cost_usd,
  });
  const { job } = await state.jobs.update(jobId, {
    status: endStatus(report),
    outcome: report.outcome,
    summary: report.summary,
    cost_usd: report.cost_usd,
    usage: report.usage,
    credential: report.credential,
    claude_version: report.claude_version,
    metadata: report.metadata,
    warnings: report.warnings,
    ...(report.session_opened && { session_id: report.session_id }),
  });
  return job;
}

function endStatus({ outcome }: RunReport): "completed" | "failed" | "cancelled" {
  const { status } = outcomes[outcome.code];
  return status === "skipped" ? "failed" : status;
}
