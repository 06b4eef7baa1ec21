import type { JobGit } from "../../state/job-git.ts";
import type { RecordedRepository } from "./git-record.ts";
import { gitOrUndefined, safeGit } from "./safe-git.ts";
import type { UntrustedRefs } from "./untrusted-refs.ts";

export interface Imported {
  git: JobGit | null;
  warnings: string[];
}

export interface WantedRef {
  name: string;
  oid: string;
  /** The reference of the host's repository that will hold it. */
  target: string;
}

export const headRefOf = (jobId: string) => `refs/herdctl/${jobId}`;

/** Writes references of the host's repository for commits whose objects it has by now. */
export async function writeRefs(
  target: string,
  repository: RecordedRepository,
  seen: UntrustedRefs,
  fetched: readonly WantedRef[],
  jobId: string,
): Promise<Imported> {
  const { git_dir: gitDir, head: before } = repository;
  const warnings: string[] = [];
  const written: string[] = [];
  const head = fetched.find(({ name }) => name === "HEAD");
  const known = [before, ...(head ? [head.oid] : [])].filter((oid) => oid !== null);
  const commits = head ? await countCommits(target, head.oid, before === null ? [] : [before]) : 0;
  for (const { name, oid, target: ref } of fetched) {
    const isNew = name === "HEAD" ? commits > 0 : (await countCommits(target, oid, known)) > 0;
    // Where a tag names a commit of the run, the tag is what is new.
    if (!isNew && !name.startsWith("refs/tags/")) continue;
    try {
      await safeGit(["update-ref", "--no-deref", ref, oid], { gitDir });
      written.push(ref);
    } catch (error) {
      if (name === "HEAD") throw error;
      warnings.push(`${ref} could not be written: ${error instanceof Error ? error.message : ""}`);
    }
  }
  if (written.length === 0) return { git: null, warnings };
  const isNew = written.includes(headRefOf(jobId));
  const branch = isNew && head ? await forwardBranch(target, repository, head.oid) : undefined;
  if (branch?.warning) warnings.push(branch.warning);
  if (isNew && head) warnings.push(...(await newSubmodules(target, before, head.oid)));
  const others = written.filter((ref) => ref !== headRefOf(jobId));
  return {
    git: {
      head_before: before,
      head_after: seen.head ?? null,
      ref: isNew ? headRefOf(jobId) : null,
      commits,
      branch: branch?.name ?? null,
      other_refs: others,
    },
    warnings,
  };
}

/** New ones only: HEAD may also have been moved to what the host has anyway. */
async function countCommits(
  target: string,
  oid: string,
  known: readonly string[],
): Promise<number> {
  const without = known.map((one) => `^${one}`);
  const args = ["rev-list", "--count", oid, ...without, "--not", "--glob=refs/host/*"];
  return Number(await safeGit(args, { gitDir: target }));
}

interface Forwarded {
  name?: string;
  warning?: string;
}

/** Moves the configured branch forward; never one that somebody works on, and never back. */
async function forwardBranch(
  target: string,
  { git_dir: gitDir, object_format, commit_branch: name }: RecordedRepository,
  oid: string,
): Promise<Forwarded> {
  if (name === null) return {};
  const ref = `refs/heads/${name}`;
  const left = (why: string): Forwarded => ({
    warning: `the branch \`${name}\` was left where it is: ${why}`,
  });
  const trees = await safeGit(["worktree", "list", "--porcelain"], { gitDir });
  if (trees.split("\n").includes(`branch ${ref}`)) return left("it is checked out");
  const old = (await gitOrUndefined(["rev-parse", "-q", "--verify", ref], { gitDir }))?.trim();
  if (old !== undefined) {
    const isForward = await gitOrUndefined(["merge-base", "--is-ancestor", old, oid], {
      gitDir: target,
    });
    if (isForward === undefined) return left("the run's commits do not build on it");
  }
  const none = "0".repeat(object_format === "sha256" ? 64 : 40);
  try {
    await safeGit(["update-ref", "--no-deref", ref, oid, old ?? none], { gitDir });
    return { name };
  } catch (error) {
    return left(error instanceof Error ? error.message : String(error));
  }
}

const emptyTrees = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

/** A commit that holds one makes git look into that folder once it is checked out. */
async function newSubmodules(
  target: string,
  before: string | null,
  after: string,
): Promise<string[]> {
  const empty = after.length === 64 ? emptyTrees.sha256 : emptyTrees.sha1;
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
  const paths = parts.filter((_, at) => /^:\d+ 160000 /.test(parts[at - 1] ?? ""));
  if (paths.length === 0) return [];
  const named = paths.slice(0, 5).map((path) => JSON.stringify(path));
  return [
    `the run's commits add or change submodules (${named.join(", ")}): git looks into such a folder once they are checked out, so look at what lies there first`,
  ];
}
