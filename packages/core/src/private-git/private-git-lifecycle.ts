import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { JobGit } from "@herdctl/protocol";
import { mergeJobGit } from "@herdctl/protocol/schemas";
import { shortHash } from "../docker/container-labels.ts";
import type { ContainerUser } from "../docker/docker-config.ts";
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
import { describeNewTraps, scanForTraps } from "./scan-git-traps.ts";
import { readUntrustedRefs, type UntrustedRefs } from "./untrusted-refs.ts";
import type { WorkspaceGit, WorkspaceLocation } from "./workspace-git.ts";
import { headRefOf } from "./write-refs.ts";

export interface OpenPrivateGitOptions extends WorkspaceLocation {
  user: ContainerUser;
  commitBranch: string | null;
}

/** Creates the private git directory of a run, and records its initial state. */
export async function openPrivateGit(
  folder: string,
  git: WorkspaceGit,
  options: OpenPrivateGitOptions,
): Promise<void> {
  const { workspace, agent, stateDir, skip, user } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const record: GitRecord = {
    version: 1,
    workspace,
    skip: [...skip],
    repository: null,
    traps: git.traps,
    collected: null,
  };
  if (git.found.kind === "found") {
    const { repository } = git.found;
    const name = `${agent}-${shortHash(workspace)}.json`;
    const historyFile = join(stateDir, "docker-git/history", name);
    const start = await makePrivateGit(folder, repository, historyFile, user);
    record.repository = {
      git_dir: repository.gitDir,
      common_dir: repository.commonDir,
      objects: repository.objects,
      object_format: repository.objectFormat,
      commit_branch: options.commitBranch,
      host_head: repository.head.oid,
      host_ref: repository.head.ref,
      head: start.head,
      refs: start.refs,
      history_file: historyFile,
      history: readHistory(historyFile)?.head ?? null,
    };
  }
  writeRecord(folder, record);
}

export interface CollectedGit {
  git: JobGit | null;
  warnings: string[];
}

/**
 * Imports the commits that a run has made since the last turn, and returns warnings about git traps
 * that it has created. Idempotent: after a crash, the same commits get the same references, and a job
 * gets the same result.
 */
export async function collectGit(folder: string, jobId: string): Promise<CollectedGit> {
  const record = readRecord(folder);
  if (record === undefined) return { git: null, warnings: unreadableRecordWarnings(folder) };
  const traps = await scanForTraps(record.workspace, record.skip);
  const warnings = describeNewTraps(record.traps, traps);
  const { repository } = record;
  const imported = repository && (await collectCommits(folder, repository, jobId));
  const previous = record.collected?.job_id === jobId ? record.collected : undefined;
  const collected: CollectedGit = {
    git: mergeJobGit(
      /* defence: import-result-kept */ previous?.git ?? null,
      imported?.git ?? null,
    ),
    warnings: [
      ...new Set([...(previous?.warnings ?? []), ...warnings, ...(imported?.warnings ?? [])]),
    ],
  };
  writeRecord(folder, {
    ...record,
    traps,
    repository: imported?.repository ?? repository,
    collected: { job_id: jobId, ...collected },
  });
  return collected;
}

function unreadableRecordWarnings(folder: string): string[] {
  if (!existsSync(gitLayout(folder).record)) return [];
  return [
    `${folder}/record.json cannot be read. The run's commits are ${describeKeptFolder(folder)}`,
  ];
}

async function collectCommits(
  folder: string,
  repository: RecordedRepository,
  jobId: string,
): Promise<CollectedGit & { repository: RecordedRepository }> {
  try {
    const containerRefs = await readUntrustedRefs(gitLayout(folder).privateDir);
    const warnings = [...containerRefs.warnings];
    if (containerRefs.unfinishedState) {
      warnings.push(
        `the run ended during ${containerRefs.unfinishedState}; only its commits are kept, not its state`,
      );
    }
    if (!hasChanged(repository, containerRefs)) return { git: null, warnings, repository };
    if (!existsSync(repository.git_dir))
      throw new Error(`${repository.git_dir} does not exist any more`);
    const imported = await importCommits(folder, repository, containerRefs, jobId);
    if (imported.git?.ref) writeHistoryAfter(repository, containerRefs, headRefOf(jobId));
    const head = containerRefs.head ?? repository.head;
    const history = imported.git?.ref ? head : repository.history;
    return {
      git: imported.git,
      warnings: [...warnings, ...imported.warnings],
      repository: { ...repository, head, history, refs: containerRefs.refs },
    };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      git: null,
      warnings: [
        `the run's commits could not be imported into the repository: ${reason}. They are ${describeKeptFolder(folder)}`,
      ],
      repository,
    };
  }
}

function hasChanged(repository: RecordedRepository, containerRefs: UntrustedRefs): boolean {
  if (containerRefs.head !== undefined && containerRefs.head !== repository.head) return true;
  return Object.entries(containerRefs.refs).some(([name, oid]) => repository.refs[name] !== oid);
}

function writeHistoryAfter(
  repository: RecordedRepository,
  containerRefs: UntrustedRefs,
  keptAs: string,
): void {
  const { history_file, host_head, host_ref, head } = repository;
  const branches = Object.entries(containerRefs.refs).filter(([name]) =>
    name.startsWith("refs/heads/"),
  );
  writeHistory(history_file, {
    version: 1,
    host_head,
    host_ref,
    kept_as: keptAs,
    head: containerRefs.head ?? head ?? "",
    head_ref: containerRefs.headRef,
    branches: Object.fromEntries(branches),
  });
}

/** Whether a run that starts now would start from another commit. */
export async function isGitOutOfDate(folder: string): Promise<boolean> {
  const repository = readRecord(folder)?.repository;
  if (!repository) return false;
  const head = await readHead(repository.git_dir);
  if (head.oid !== repository.host_head || head.ref !== repository.host_ref) return true;
  // Another run of the agent may have committed in the meantime.
  return (readHistory(repository.history_file)?.head ?? null) !== repository.history;
}

/** Removes the private git directory of a run. Commits that were not imported are kept. */
export async function closePrivateGit(folder: string): Promise<void> {
  const { record: file, privateDir } = gitLayout(folder);
  const record = readRecord(folder);
  const containerRefs = record?.repository && (await readUntrustedRefs(privateDir));
  const isUnreadable =
    /* defence: damaged-git-record-kept */ record === undefined && existsSync(file);
  if (
    isUnreadable ||
    (record?.repository && containerRefs && hasChanged(record.repository, containerRefs))
  ) {
    moveToKeptRuns(folder);
  }
  rmSync(folder, { recursive: true, force: true });
}

/** Removes the private git directory of a finished run if nothing in it is new; otherwise recovery needs it. */
export async function removeFinishedPrivateGit(folder: string): Promise<void> {
  const repository = readRecord(folder)?.repository;
  const containerRefs = repository && (await readUntrustedRefs(gitLayout(folder).privateDir));
  if (repository && containerRefs && hasChanged(repository, containerRefs)) return;
  rmSync(folder, { recursive: true, force: true });
}

/** Holds commits that could not be imported, until the record of their job is removed. */
export function keptRunsFolder(stateDir: string): string {
  return join(stateDir, "docker-git/kept");
}

function keptPath(folder: string): string {
  return join(dirname(dirname(folder)), "kept", basename(folder));
}

function describeKeptFolder(folder: string): string {
  return `kept in ${keptPath(folder)}; do not run git there`;
}

function moveToKeptRuns(folder: string): void {
  if (!existsSync(folder)) return;
  const kept = keptPath(folder);
  rmSync(kept, { recursive: true, force: true });
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 });
  renameSync(folder, kept);
}
