import { rmSync } from "node:fs";
import { join } from "node:path";
import type { JobGit } from "@herdctl/protocol";
import type { RecordedRepository } from "./git-record.ts";
import { gitOrUndefined, safeGit } from "./safe-git.ts";
import type { UntrustedRefs } from "./untrusted-refs.ts";

export interface ImportResult {
  git: JobGit | null;
  warnings: string[];
}

export interface WantedRef {
  name: string;
  oid: string;
  /** The name of the reference in the host's repository. */
  target: string;
}

export const headRefOf = (jobId: string) => `refs/herdctl/${jobId}`;

/** Writes references in the host's repository for commits whose objects were fetched. */
export async function writeRefs(
  target: string,
  repository: RecordedRepository,
  containerRefs: UntrustedRefs,
  fetched: readonly WantedRef[],
  jobId: string,
): Promise<ImportResult> {
  const { head: before } = repository;
  const warnings: string[] = [];
  const written: string[] = [];
  const head = fetched.find(({ name }) => name === "HEAD");
  const known = [before, ...(head ? [head.oid] : [])].filter((oid) => oid !== null);
  const commits = head ? await countCommits(target, head.oid, before === null ? [] : [before]) : 0;
  for (const { name, oid, target: ref } of fetched) {
    const isNew = name === "HEAD" ? commits > 0 : (await countCommits(target, oid, known)) > 0;
    // A tag can be new even if its commit is not.
    if (!isNew && !name.startsWith("refs/tags/")) continue;
    try {
      const preservedRefs = await preserveEarlierRef(target, repository, { ref, oid, jobId });
      await updateOwnRef(repository, ref, oid);
      written.push(ref, ...preservedRefs);
    } catch (error) {
      if (name === "HEAD") throw error;
      warnings.push(`${ref} could not be written: ${error instanceof Error ? error.message : ""}`);
    }
  }
  if (written.length === 0) return { git: null, warnings };
  const isNew = written.includes(headRefOf(jobId));
  const branch = isNew && head ? await forwardBranch(target, repository, head.oid) : undefined;
  if (branch?.warning) warnings.push(branch.warning);
  if (isNew && head) warnings.push(...(await warnAboutSubmodules(target, before, head.oid)));
  const others = written.filter((ref) => ref !== headRefOf(jobId));
  return {
    git: {
      head_before: before,
      head_after: containerRefs.head ?? null,
      ref: isNew ? headRefOf(jobId) : null,
      commits,
      branch: branch?.name ?? null,
      other_refs: others,
    },
    warnings,
  };
}

/** Keeps the commits of an earlier attempt if the new commits do not build on them. */
async function preserveEarlierRef(
  target: string,
  repository: RecordedRepository,
  { ref, oid, jobId }: { ref: string; oid: string; jobId: string },
): Promise<string[]> {
  const { git_dir: gitDir } = repository;
  const currentOid = (
    await gitOrUndefined(["rev-parse", "-q", "--verify", ref], { gitDir })
  )?.trim();
  if (
    currentOid === undefined ||
    /* defence: earlier-commits-kept */ (await isFastForward(target, currentOid, oid))
  )
    return [];
  const name = `refs/herdctl-earlier/${jobId}/${currentOid.slice(0, 12)}`;
  await updateOwnRef(repository, name, currentOid);
  return [name];
}

/** Only herdctl writes these references, so an existing lock belongs to a git process that was killed. */
async function updateOwnRef(
  { git_dir: gitDir, common_dir }: RecordedRepository,
  ref: string,
  oid: string,
): Promise<void> {
  const args = ["update-ref", "--no-deref", ref, oid];
  if ((await gitOrUndefined(args, { gitDir })) !== undefined) return;
  rmSync(join(common_dir, /* defence: stale-ref-lock */ `${ref}.lock`), { force: true });
  await safeGit(args, { gitDir });
}

async function isFastForward(gitDir: string, from: string, to: string): Promise<boolean> {
  const args = ["merge-base", "--is-ancestor", from, to];
  return (await gitOrUndefined(args, { gitDir })) !== undefined;
}

/** Counts new commits only: HEAD may also have been moved to a commit that the host already has. */
async function countCommits(
  target: string,
  oid: string,
  known: readonly string[],
): Promise<number> {
  const exclusions = known.map((knownOid) => `^${knownOid}`);
  const args = ["rev-list", "--count", oid, ...exclusions, "--not", "--glob=refs/host/*"];
  return Number(await safeGit(args, { gitDir: target }));
}

interface ForwardResult {
  name?: string;
  warning?: string;
}

/** Fast-forwards the configured branch, unless it is checked out. */
async function forwardBranch(
  target: string,
  { git_dir: gitDir, object_format, commit_branch: name }: RecordedRepository,
  oid: string,
): Promise<ForwardResult> {
  if (name === null) return {};
  const ref = `refs/heads/${name}`;
  const notMoved = (reason: string): ForwardResult => ({
    warning: `the branch \`${name}\` was not moved: ${reason}`,
  });
  const worktrees = await safeGit(["worktree", "list", "--porcelain"], { gitDir });
  if (worktrees.split("\n").includes(`branch ${ref}`)) return notMoved("it is checked out");
  const currentOid = (
    await gitOrUndefined(["rev-parse", "-q", "--verify", ref], { gitDir })
  )?.trim();
  if (currentOid !== undefined && !(await isFastForward(target, currentOid, oid))) {
    return notMoved("the run's commits do not build on it");
  }
  const zeroOid = "0".repeat(object_format === "sha256" ? 64 : 40);
  try {
    await safeGit(["update-ref", "--no-deref", ref, oid, currentOid ?? zeroOid], { gitDir });
    return { name };
  } catch (error) {
    return notMoved(error instanceof Error ? error.message : String(error));
  }
}

const emptyTreeOids = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

/** Git reads a submodule's folder when a commit with that submodule is checked out. */
async function warnAboutSubmodules(
  target: string,
  before: string | null,
  after: string,
): Promise<string[]> {
  const empty = after.length === 64 ? emptyTreeOids.sha256 : emptyTreeOids.sha1;
  const args = [
    "diff-tree",
    "-r",
    "-z",
    "--raw",
    "--no-renames",
    "--no-ext-diff",
    "--ignore-submodules=none",
  ];
  const changes = await safeGit([...args, before ?? empty, after], { gitDir: target });
  const parts = changes.split("\0");
  const paths = parts.filter((_, index) => /^:\d+ 160000 /.test(parts[index - 1] ?? ""));
  if (paths.length === 0) return [];
  const named = paths.slice(0, 5).map((path) => JSON.stringify(path));
  return [
    `the run's commits add or change submodules (${named.join(", ")}): git reads these folders when you check the commits out, so check their content first`,
  ];
}
