import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JobGit } from "../../state/job-git.ts";
import { fingerprint } from "../container/labels.ts";
import type { ContainerUser } from "../runtime/docker-config.ts";
import {
  type GitRecord,
  gitLayout,
  type RecordedRepository,
  readHistory,
  readRecord,
  writeHistory,
  writeRecord,
} from "./git-record.ts";
import { readHead } from "./host-repository.ts";
import { importCommits } from "./import-commits.ts";
import { makePrivateGit } from "./private-git.ts";
import { newTraps, scanForTraps } from "./trap-scan.ts";
import { readUntrustedRefs, type UntrustedRefs } from "./untrusted-refs.ts";
import type { GitPlace, WorkspaceGit } from "./workspace-git.ts";
import { headRefOf } from "./write-refs.ts";

/** What a run in a container has of git is kept here until it has been brought out. */
export function gitFolderOf(stateDir: string, runToken: string): string {
  return join(stateDir, "docker-git/runs", runToken);
}

export interface GitGiven extends GitPlace {
  user: ContainerUser;
  commitBranch: string | null;
}

/** Makes the private git directory of a run, and puts on record what it began with. */
export async function openPrivateGit(
  folder: string,
  git: WorkspaceGit,
  given: GitGiven,
): Promise<void> {
  const { workspace, agent, stateDir, skip, user } = given;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const record: GitRecord = {
    version: 1,
    workspace,
    skip: [...skip],
    repository: null,
    traps: git.traps,
  };
  if (git.found.kind === "found") {
    const { repository: host } = git.found;
    const name = `${agent}-${fingerprint(workspace)}.json`;
    const historyFile = join(stateDir, "docker-git/history", name);
    const start = await makePrivateGit(folder, host, historyFile, user);
    record.repository = {
      git_dir: host.gitDir,
      common_dir: host.commonDir,
      objects: host.objects,
      object_format: host.objectFormat,
      commit_branch: given.commitBranch,
      host_head: host.head.oid,
      host_ref: host.head.ref,
      head: start.head,
      refs: start.refs,
      history_file: historyFile,
      history: readHistory(historyFile)?.head ?? null,
    };
  }
  writeRecord(folder, record);
}

export interface Collected {
  git: JobGit | null;
  warnings: string[];
}

/**
 * Brings out what a run has committed since it was last asked, and tells what it planted. May be
 * repeated: after a crash the same commits get the same references.
 */
export async function collectGit(folder: string, jobId: string): Promise<Collected> {
  const record = readRecord(folder);
  if (record === undefined) return { git: null, warnings: [] };
  const traps = await scanForTraps(record.workspace, record.skip);
  const warnings = newTraps(record.traps, traps);
  const { repository } = record;
  const imported = repository && (await collectCommits(folder, repository, jobId));
  writeRecord(folder, { ...record, traps, repository: imported?.repository ?? repository });
  return {
    git: imported?.git ?? null,
    warnings: [...warnings, ...(imported?.warnings ?? [])],
  };
}

async function collectCommits(
  folder: string,
  repository: RecordedRepository,
  jobId: string,
): Promise<Collected & { repository: RecordedRepository }> {
  try {
    const seen = await readUntrustedRefs(gitLayout(folder).privateDir);
    const warnings = [...seen.warnings];
    if (seen.unfinished) {
      warnings.push(
        `the run ended in the middle of ${seen.unfinished}; only its commits are kept, not its state`,
      );
    }
    if (!hasChanged(repository, seen)) return { git: null, warnings, repository };
    const imported = await importCommits(folder, repository, seen, jobId);
    if (imported.git?.ref) continueFrom(repository, seen, headRefOf(jobId));
    const head = seen.head ?? repository.head;
    const history = imported.git?.ref ? head : repository.history;
    return {
      git: imported.git,
      warnings: [...warnings, ...imported.warnings],
      repository: { ...repository, head, history, refs: seen.refs },
    };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return {
      git: null,
      warnings: [
        `the run's commits could not be brought into the repository: ${why}. They are kept in ${keptPath(folder)}; do not run git there`,
      ],
      repository,
    };
  }
}

function hasChanged(repository: RecordedRepository, seen: UntrustedRefs): boolean {
  if (seen.head !== undefined && seen.head !== repository.head) return true;
  return Object.entries(seen.refs).some(([name, oid]) => repository.refs[name] !== oid);
}

function continueFrom(repository: RecordedRepository, seen: UntrustedRefs, keptAs: string): void {
  const { history_file, host_head, host_ref, head } = repository;
  const branches = Object.entries(seen.refs).filter(([name]) => name.startsWith("refs/heads/"));
  writeHistory(history_file, {
    version: 1,
    host_head,
    host_ref,
    kept_as: keptAs,
    head: seen.head ?? head ?? "",
    head_ref: seen.headRef,
    branches: Object.fromEntries(branches),
  });
}

/** The host's HEAD has moved: what would begin now would begin there. */
export async function isGitOutOfDate(folder: string): Promise<boolean> {
  const repository = readRecord(folder)?.repository;
  if (!repository) return false;
  const head = await readHead(repository.git_dir);
  if (head.oid !== repository.host_head || head.ref !== repository.host_ref) return true;
  // Another run of the agent may have committed meanwhile.
  return (readHistory(repository.history_file)?.head ?? null) !== repository.history;
}

/** Removes what a run had of git, unless something in it has not been brought out. */
export async function closePrivateGit(folder: string): Promise<void> {
  const record = readRecord(folder);
  if (record?.repository) {
    const seen = await readUntrustedRefs(gitLayout(folder).privateDir);
    if (hasChanged(record.repository, seen)) keepIfNotImported(folder);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Removes what a run left that is over and has nothing new; else it is for the job's recovery. */
export async function sweepPrivateGit(folder: string): Promise<void> {
  const repository = readRecord(folder)?.repository;
  const seen = repository && (await readUntrustedRefs(gitLayout(folder).privateDir));
  if (repository && seen && hasChanged(repository, seen)) return;
  rmSync(folder, { recursive: true, force: true });
}

function keptPath(folder: string): string {
  return join(dirname(dirname(folder)), "kept", folder.slice(dirname(folder).length + 1));
}

function keepIfNotImported(folder: string): void {
  if (!existsSync(folder)) return;
  const kept = keptPath(folder);
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
  renameSync(folder, kept);
}
