import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Environment, listSecretValues, type ResolvedAgent } from "@herdctl/config";
import type { Job, ProcessIdentity } from "@herdctl/protocol";
import { mergeJobGit } from "@herdctl/protocol/schemas";
import { ContainerManager } from "../../docker/container-manager.ts";
import { runSubfolders } from "../../docker/mounts.ts";
import { removeContainersOf } from "../../docker/remove-containers.ts";
import { isAlive } from "../../lib/process-identity.ts";
import { runTokenOf } from "../../lib/run-token.ts";
import { removeSocket } from "../../lib/socket-path.ts";
import {
  type CollectedGit,
  closePrivateGit,
  collectGit,
} from "../../private-git/private-git-lifecycle.ts";
import { killRunProcesses } from "../../process-tree/kill-processes.ts";
import { readOutcome, writeOutcome } from "../../store/files/job-folder.ts";
import { failPoint } from "../../testing/failpoints.ts";
import type { RunnerClaim } from "../contract/messages.ts";
import {
  claimAttempt,
  isRunTokenInUse,
  privateGitFolder,
  readClaim,
  removeHostSocket,
  runnerSocketPath,
} from "../contract/paths.ts";
import { type RunReport, runReportSchema } from "../contract/run-report.ts";
import { knownSecrets, Redactor } from "../execution/redactor.ts";
import { minimalReport, readMeteredSpending, reportFromLog } from "./report-from-log.ts";

export interface EndedRun {
  stateDir: string;
  /** `attempts` is the number of the attempt whose runner died. */
  job: Pick<Job, "id" | "attempts" | "session_id" | "session_home">;
  /** Selects the Docker engine of its container. */
  environment: Environment;
  /** For redacting its secrets in recovered output; undefined if it is no longer configured. */
  agent?: Pick<ResolvedAgent, "env" | "mcp_servers" | "fleet_dir">;
}

/**
 * Returns the runner's report. If the runner died without one, kills its leftover processes and builds
 * the report from the files on disk. The report is stored like that of a runner, so that later calls
 * return the same one. Rejects if the disk is full; the caller can retry.
 */
export async function collectRunReport(run: EndedRun): Promise<RunReport> {
  const jobDir = join(run.stateDir, "jobs", run.job.id);
  const reported = await readReport(jobDir, run.job.attempts);
  const report = reported ?? (await reconstructReport(jobDir, run));
  if (reported) await removeGitLeftovers(jobDir, run, reported);
  await removeRunFiles(jobDir);
  return report;
}

/** Only needed without a report: a runner that wrote one has already killed its processes. */
async function reconstructReport(jobDir: string, run: EndedRun): Promise<RunReport> {
  const { job } = run;
  const runTokens = await runTokensOf(jobDir, { jobId: job.id, attempt: job.attempts });
  for (const token of runTokens) await killRunProcesses(token);
  const { id: container_id, isEnded } = await endContainer(run, runTokens);
  failPoint("dead run swept");
  const fromDisk = await reportFromDisk(jobDir, run);
  const { git, warnings } = await collectCommits(run, runTokens);
  const completed = {
    ...{ ...fromDisk, git, warnings: [...fromDisk.warnings, ...warnings] },
    ...{ container_id, crashed: true },
  };
  const report = runReportSchema.parse(completed);
  await writeOutcome(jobDir, report);
  failPoint("dead run reported");
  // A container that could not be removed may still commit; the fleet checks again later.
  // defence: git-kept-while-container-runs
  const finishedTokens = isEnded ? runTokens : [];
  for (const token of finishedTokens) await closePrivateGit(privateGitFolder(run.stateDir, token));
  return report;
}

/** A runner that wrote a report has collected the commits, but may have died before it cleaned up. */
async function removeGitLeftovers(
  jobDir: string,
  run: EndedRun,
  { crashed }: Pick<RunReport, "crashed">,
): Promise<void> {
  const { stateDir, job } = run;
  const id = { jobId: job.id, attempt: job.attempts };
  const runToken = runTokenOf(id);
  const folder = privateGitFolder(stateDir, runToken);
  if (!existsSync(folder)) return;
  if (crashed && !(await endContainer(run, await runTokensOf(jobDir, id))).isEnded) return;
  if (!isRunTokenInUse(stateDir, runToken)) await closePrivateGit(folder);
}

/** Tokens that mark the processes of an attempt: its own, and that of a kept-alive `claude` it used. */
async function runTokensOf(jobDir: string, id: { jobId: string; attempt: number }) {
  const claim = await readClaim(jobDir, id.attempt);
  const live = claim.kind === "found" ? claim.file.run?.live : undefined;
  return [runTokenOf(id), ...(live ? [live.run_token] : [])];
}

/** Collects the commits that the run made before its runner died. */
async function collectCommits(
  { stateDir, job }: EndedRun,
  runTokens: readonly string[],
): Promise<CollectedGit> {
  const all: CollectedGit = { git: null, warnings: [] };
  for (const token of runTokens) {
    const { git, warnings } = await collectGit(privateGitFolder(stateDir, token), job.id);
    all.git = mergeJobGit(all.git, git);
    all.warnings.push(...warnings);
  }
  return all;
}

/** If the engine does not answer, the fleet tries again later and before the next attempt. */
async function endContainer(
  { stateDir, job, environment }: EndedRun,
  runTokens: readonly string[],
): Promise<{ id: string | null; isEnded: boolean }> {
  if (job.session_home !== "docker") return { id: null, isEnded: true };
  try {
    const manager = await ContainerManager.connect(environment);
    const [id] = await removeContainersOf(manager, stateDir, job.id, runTokens);
    return { id: id ?? null, isEnded: true };
  } catch {
    return { id: null, isEnded: false };
  }
}

/** The stored report of an attempt, if there is one. */
export async function readReport(jobDir: string, attempt: number): Promise<RunReport | undefined> {
  const stored = await readOutcome(jobDir);
  if (stored.kind !== "found") return undefined;
  const report = runReportSchema.safeParse(stored.value);
  return report.success && report.data.attempt === attempt ? report.data : undefined;
}

async function reportFromDisk(jobDir: string, run: EndedRun): Promise<RunReport> {
  const { job, agent, environment } = run;
  const claim = await readClaim(jobDir, job.attempts);
  const file = claim.kind === "found" ? claim.file : undefined;
  const sessionId = file?.session_id ?? job.session_id ?? "";
  if (file?.run) {
    const secrets = agent
      ? /* defence: redacted-recovery */ knownSecrets(agent, environment)
      : listSecretValues(environment);
    const redactor = new Redactor(secrets);
    return reportFromLog({ jobId: job.id, jobDir, sessionId, file, facts: file.run, redactor });
  }
  return minimalReport(
    { jobId: job.id, attempt: job.attempts, sessionId },
    { stopped: "interrupted" },
    await readMeteredSpending(jobDir, job.attempts),
  );
}

type RunnerState =
  | { kind: "alive"; identity: ProcessIdentity; file: RunnerClaim }
  /** And never will start: the attempt is now void. */
  | { kind: "never_started" }
  | { kind: "dead" };

/** The state of an attempt's runner, which an earlier fleet process may have started. */
export async function inspectRunner(jobDir: string, attempt: number): Promise<RunnerState> {
  const claim = await readClaim(jobDir, attempt);
  if (claim.kind === "none") {
    if (claimAttempt(jobDir, createVoidClaim(attempt))) return { kind: "never_started" };
    return inspectRunner(jobDir, attempt);
  }
  if (claim.kind === "damaged") return { kind: "dead" };
  const { file } = claim;
  if (file.void) return { kind: "never_started" };
  const { runner } = file;
  return runner && isAlive(runner) ? { kind: "alive", identity: runner, file } : { kind: "dead" };
}

function createVoidClaim(attempt: number): RunnerClaim {
  const started_at = new Date().toISOString();
  return {
    version: 1,
    attempt,
    runner: null,
    void: true,
    session_id: null,
    started_at,
    run: null,
  };
}

/** Removes the files that a runner normally removes itself: its socket, folders and temporary files. */
export async function removeRunFiles(jobDir: string): Promise<void> {
  if (!existsSync(jobDir)) return;
  removeSocket(runnerSocketPath(jobDir));
  removeHostSocket(runSubfolders(jobDir).socketDir);
  const leftovers = (await readdir(jobDir)).filter(
    (name) => runFolderNames.has(name) || isTempFile(name),
  );
  for (const name of leftovers) await rm(join(jobDir, name), { recursive: true, force: true });
}

const runFolderNames = new Set(["private", "proxy"]);

/** Temporary files of `writeFileAtomic` and of claims whose runner died while writing. */
export function isTempFile(name: string): boolean {
  return /^(\.outcome|runner-\d+)\.json\.[0-9a-f]+$/.test(name);
}
