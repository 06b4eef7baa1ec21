import { statSync } from "node:fs";
import { join } from "node:path";
import { currentProcess } from "../../lib/process-identity.ts";
import { outputFileName } from "../../store/files/output-writer.ts";
import { claimAttempt } from "../contract/claim-file.ts";
import type { RunFacts, RunnerAssignment, RunnerClaim } from "../contract/messages.ts";
import { credentialOf } from "../execution/open-run.ts";
import { listClosedPaths } from "../execution/workspace-file.ts";
import type { IdleRun } from "../keep-alive/keep-alive-run.ts";

/** Claims an attempt for this process in a claim file; undefined if another process has claimed it. */
export function claimRun(
  assignment: RunnerAssignment,
  idleRun?: Pick<IdleRun, "runToken" | "totals">,
): { file: RunnerClaim; run: RunFacts } | undefined {
  const jobDir = join(assignment.stateDir, "jobs", assignment.order.jobId);
  const live = idleRun ? { run_token: idleRun.runToken, totals: idleRun.totals ?? null } : null;
  const run = { ...runFactsOf(assignment, jobDir), live };
  const file = runnerClaimOf(assignment, run);
  return claimAttempt(jobDir, file) ? { file, run } : undefined;
}

function runnerClaimOf({ order }: RunnerAssignment, run: RunFacts): RunnerClaim {
  return {
    version: 1,
    attempt: order.attempt,
    runner: currentProcess(),
    void: false,
    session_id: order.session.sessionId,
    started_at: new Date().toISOString(),
    run,
  };
}

function runFactsOf(
  { order, environment, stateDir }: RunnerAssignment,
  jobDir: string,
): Omit<RunFacts, "live"> {
  const { session, agent, place, cwd, configDir, claude } = order;
  const { kind } = credentialOf(order, environment);
  return {
    forked_from: session.kind === "fork" ? session.from : null,
    place,
    cwd,
    config_dir: configDir,
    claude_version: claude.version,
    credential: kind === "none" ? null : kind,
    metadata_file: agent.metadata_file ?? null,
    closed_paths: listClosedPaths(order, stateDir),
    demands_report: order.outputSchema !== undefined,
    output_from: statSync(join(jobDir, outputFileName), { throwIfNoEntry: false })?.size ?? 0,
  };
}
