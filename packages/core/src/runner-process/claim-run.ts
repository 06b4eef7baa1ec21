import { statSync } from "node:fs";
import { join } from "node:path";
import { credentialOf } from "../runner/open-run.ts";
import { closedPaths } from "../runner/workspace-file.ts";
import { outputName } from "../state/output-writer.ts";
import { currentProcess } from "../state/process-identity.ts";
import { claimAttempt } from "./claim.ts";
import type { RunFacts, RunnerAssignment, RunnerFile } from "./contract.ts";
import type { WaitingRun } from "./live-run.ts";

/** Takes an attempt for this process, on record for whoever must settle it; undefined when it is taken. */
export function claimRun(
  assignment: RunnerAssignment,
  waiting?: Pick<WaitingRun, "runToken" | "totals">,
): { file: RunnerFile; run: RunFacts } | undefined {
  const jobDir = join(assignment.stateDir, "jobs", assignment.order.jobId);
  const live = waiting ? { run_token: waiting.runToken, totals: waiting.totals ?? null } : null;
  const run = { ...factsOf(assignment, jobDir), live };
  const file = fileOf(assignment, run);
  return claimAttempt(jobDir, file) ? { file, run } : undefined;
}

function fileOf({ order }: RunnerAssignment, run: RunFacts): RunnerFile {
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

function factsOf(
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
    closed_paths: closedPaths(order, stateDir),
    demands_report: order.outputSchema !== undefined,
    output_from: statSync(join(jobDir, outputName), { throwIfNoEntry: false })?.size ?? 0,
  };
}
