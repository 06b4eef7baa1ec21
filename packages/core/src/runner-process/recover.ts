import { join } from "node:path";
import type { Environment } from "../config/environment.ts";
import type { ResolvedAgent } from "../config/resolve.ts";
import { secretValues } from "../config/secret-values.ts";
import { failPoint } from "../faults/fail-point.ts";
import { removeContainersOf } from "../runner/container/sweep-containers.ts";
import {
  type Collected,
  closePrivateGit,
  collectGit,
  gitFolderOf,
} from "../runner/git/private-session.ts";
import { knownSecrets } from "../runner/known-secrets.ts";
import { Redactor } from "../runner/redactor.ts";
import { type RunReport, runReportSchema } from "../runner/run-report.ts";
import { ContainerManager } from "../runner/runtime/container-manager.ts";
import { sweepRun } from "../runner/sweep/sweep-run.ts";
import type { Job } from "../state/job.ts";
import { readOutcome, writeOutcome } from "../state/outcome-file.ts";
import { bareReport } from "./bare-report.ts";
import { readClaim } from "./claim.ts";
import { removeTraces } from "./remove-traces.ts";
import { meteredOf, reportOfLog } from "./report-of-log.ts";
import { runTokensOf } from "./run-tokens.ts";

export interface DeadRun {
  stateDir: string;
  /** `attempts` is the number of the attempt whose runner died. */
  job: Pick<Job, "id" | "attempts" | "session_id" | "place">;
  /** Names the engine of its container. */
  environment: Environment;
  /** Its secrets are redacted in what is added to the log; undefined if it is not configured any more. */
  agent?: Pick<ResolvedAgent, "env" | "mcp_servers" | "fleet_dir">;
  /** Its own word, for whoever has read it already. */
  told?: RunReport;
}

/**
 * Ends what the dead runner left running, then tells from what it left on disk how its run went.
 * The answer is kept as the runner would have kept it, so that asking again gives the same.
 * Rejects when the disk is full; it can be asked again later.
 */
export async function reportOfDead(dead: DeadRun): Promise<RunReport> {
  const jobDir = join(dead.stateDir, "jobs", dead.job.id);
  const told = dead.told ?? (await readReport(jobDir, dead.job.attempts));
  const report = told ?? (await settleUntold(jobDir, dead));
  await removeTraces(jobDir);
  return report;
}

/** A runner that gave its word had swept before; one that did not may have left a claude at work. */
async function settleUntold(jobDir: string, dead: DeadRun): Promise<RunReport> {
  const { job } = dead;
  const { own, live } = await runTokensOf(jobDir, { jobId: job.id, attempt: job.attempts });
  const runTokens = [...own, ...live];
  for (const token of runTokens) await sweepRun(token);
  const container_id = job.place === "docker" ? await endContainer(dead, runTokens) : null;
  failPoint("dead run swept");
  const told = await reportFromDisk(jobDir, dead);
  const { git, warnings } = await collectLeft(dead, runTokens);
  const found = {
    ...{ ...told, git, warnings: [...told.warnings, ...warnings] },
    ...{ container_id, crashed: true },
  };
  const report = runReportSchema.parse(found);
  await writeOutcome(jobDir, report);
  failPoint("dead run told");
  for (const token of runTokens) await closePrivateGit(gitFolderOf(dead.stateDir, token));
  return report;
}

/** What the run committed before its runner died. */
async function collectLeft(
  { stateDir, job }: DeadRun,
  runTokens: readonly string[],
): Promise<Collected> {
  const all: Collected = { git: null, warnings: [] };
  for (const token of runTokens) {
    const { git, warnings } = await collectGit(gitFolderOf(stateDir, token), job.id);
    all.git ??= git;
    all.warnings.push(...warnings);
  }
  return all;
}

/** An engine that does not answer now is asked again before the next attempt and by the fleet. */
async function endContainer(
  { stateDir, job, environment }: DeadRun,
  runTokens: readonly string[],
): Promise<string | null> {
  try {
    const manager = await ContainerManager.connect(environment);
    const [id] = await removeContainersOf(manager, stateDir, job.id, runTokens);
    return id ?? null;
  } catch {
    return null;
  }
}

/** The runner's own word on an attempt, once it has given it. */
export async function readReport(jobDir: string, attempt: number): Promise<RunReport | undefined> {
  const stored = await readOutcome(jobDir);
  if (stored.kind !== "found") return undefined;
  const report = runReportSchema.safeParse(stored.value);
  return report.success && report.data.attempt === attempt ? report.data : undefined;
}

async function reportFromDisk(jobDir: string, dead: DeadRun): Promise<RunReport> {
  const { job, agent, environment } = dead;
  const claim = await readClaim(jobDir, job.attempts);
  const file = claim.kind === "found" ? claim.file : undefined;
  const sessionId = file?.session_id ?? job.session_id ?? "";
  if (file?.run) {
    const secrets = agent ? knownSecrets(agent, environment) : secretValues(environment);
    const redactor = new Redactor(secrets);
    return reportOfLog({ jobId: job.id, jobDir, sessionId, file, run: file.run, redactor });
  }
  return bareReport(
    { jobId: job.id, attempt: job.attempts, sessionId },
    { stopped: "interrupted" },
    await meteredOf(jobDir, job.attempts),
  );
}
