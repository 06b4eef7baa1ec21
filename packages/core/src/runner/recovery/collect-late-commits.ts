import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ContainerJob } from "../../docker/container-labels.ts";
import {
  type CollectedGit,
  closePrivateGit,
  collectGit,
  keptRunsFolder,
} from "../../private-git/private-git-lifecycle.ts";
import { isRunTokenInUse, privateGitFolder } from "../contract/paths.ts";

interface LateCommits extends CollectedGit {
  jobId: string;
}

/**
 * Collects the commits and removes the private git directories of runs that recovery on this machine
 * does not handle: the job has moved to another node, or ended before its container.
 */
export async function collectLateCommits(
  stateDir: string,
  isOver: (run: ContainerJob) => Promise<boolean>,
): Promise<LateCommits[]> {
  const late: LateCommits[] = [];
  for (const [runToken, run] of await listRunFolders(join(stateDir, "docker-git/runs"))) {
    // defence: git-leftovers-of-dead-runs
    if (isRunTokenInUse(stateDir, runToken) || !(await isOver(run))) continue;
    const folder = privateGitFolder(stateDir, runToken);
    const collected = await collectGit(folder, run.jobId);
    await closePrivateGit(folder);
    const hasContent = collected.git !== null || collected.warnings.length > 0;
    if (hasContent) late.push({ jobId: run.jobId, ...collected });
  }
  return late;
}

/** Removes commits that could not be collected, once the job's record is gone. */
export async function removeUncollectedGit(
  stateDir: string,
  isGone: (jobId: string) => Promise<boolean>,
): Promise<void> {
  const folder = keptRunsFolder(stateDir);
  for (const [runToken, { jobId }] of await listRunFolders(folder)) {
    if (await isGone(jobId)) await rm(join(folder, runToken), { recursive: true, force: true });
  }
}

async function listRunFolders(folder: string): Promise<[runToken: string, run: ContainerJob][]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name): [string, ContainerJob][] => {
    const [, jobId, attempt] = /^(.+)\.(\d+)$/.exec(name) ?? [];
    return jobId === undefined ? [] : [[name, { jobId, attempt: Number(attempt) }]];
  });
}
