import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import type { JobGit } from "../../state/job-git.ts";
import { copyUntrustedObjects } from "./copy-objects.ts";
import type { RecordedRepository } from "./git-record.ts";
import { configLine } from "./private-config.ts";
import { listRefs, packedRefs } from "./private-git.ts";
import { GitFailed, gitOrUndefined, safeGit } from "./safe-git.ts";
import type { UntrustedRefs } from "./untrusted-refs.ts";

export interface Imported {
  git: JobGit | null;
  warnings: string[];
}

interface Wanted {
  name: string;
  oid: string;
  /** The reference of the host's repository that will hold it. */
  target: string;
}

const maxOtherRefs = 100;

/**
 * Brings what a container has committed into the host's repository. A copy of its objects lies in a
 * repository of ours; from there they are fetched, checked object by object, into the host's object
 * folder. The host's configuration takes part in nothing but the last step, writing references.
 */
export async function importCommits(
  folder: string,
  repository: RecordedRepository,
  seen: UntrustedRefs,
  jobId: string,
): Promise<Imported> {
  const [source, target] = [join(folder, "import-from"), join(folder, "import-to")];
  try {
    const hostRefs = await listRefs(repository.git_dir, []);
    await makeBare(source, repository, {});
    await makeBare(target, repository, hostRefsOf(hostRefs, repository.host_head));
    const { warnings } = await copyUntrustedObjects(join(folder, "private/objects"), source);
    const wanted = wantedRefs(repository, seen, jobId);
    const there = await withCommits(source, wanted);
    const lost = wanted.filter((one) => !there.includes(one));
    if (lost.length > 0) warnings.push(`${lost.length} references name no commit that is there`);
    const packsBefore = new Set(packsOf(repository));
    const fetched = await fetchEach(source, target, repository, there);
    const git = await writeRefs(target, repository, seen, fetched.refs, jobId);
    giveToOwner(repository, packsBefore);
    return {
      git: git.git,
      warnings: [...warnings, ...fetched.warnings, ...git.warnings],
    };
  } finally {
    rmSync(source, { recursive: true, force: true });
    rmSync(target, { recursive: true, force: true });
  }
}

export const headRefOf = (jobId: string) => `refs/herdctl/${jobId}`;

/** HEAD first; a name below it would be in conflict with it, so others have namespaces of their own. */
function wantedRefs(repository: RecordedRepository, seen: UntrustedRefs, jobId: string): Wanted[] {
  const wanted: Wanted[] = [];
  if (seen.head !== undefined && seen.head !== repository.head) {
    wanted.push({ name: "HEAD", oid: seen.head, target: headRefOf(jobId) });
  }
  for (const [name, oid] of Object.entries(seen.refs)) {
    if (repository.refs[name] === oid || oid === seen.head) continue;
    const target = name
      .replace(/^refs\/heads\//, `refs/herdctl-branches/${jobId}/`)
      .replace(/^refs\/tags\//, `refs/herdctl-tags/${jobId}/`)
      .replace(/^refs\/stash$/, `refs/herdctl-stash/${jobId}`);
    if (wanted.length <= maxOtherRefs) wanted.push({ name, oid, target });
  }
  return wanted;
}

async function makeBare(
  path: string,
  { common_dir, objects, object_format }: RecordedRepository,
  refs: Record<string, string>,
): Promise<void> {
  rmSync(path, { recursive: true, force: true });
  for (const inner of ["objects/info", "objects/pack", "refs"]) {
    mkdirSync(join(path, inner), { recursive: true, mode: 0o700 });
  }
  const isSha256 = object_format === "sha256";
  const config = [
    { key: "core.repositoryformatversion", value: isSha256 ? "1" : "0" },
    { key: "core.bare", value: "true" },
    ...(isSha256 ? [{ key: "extensions.objectformat", value: "sha256" }] : []),
  ];
  writeFileSync(join(path, "HEAD"), "ref: refs/heads/none\n");
  writeFileSync(join(path, "config"), config.map(configLine).join(""));
  writeFileSync(join(path, "packed-refs"), packedRefs(refs), "latin1");
  writeFileSync(join(path, "objects/info/alternates"), `${objects.join("\n")}\n`);
  const shallow = join(common_dir, "shallow");
  if (existsSync(shallow)) await copyFile(shallow, join(path, "shallow"));
}

/** So that nothing is fetched which the host has. */
function hostRefsOf(refs: Record<string, string>, head: string | null): Record<string, string> {
  const named = Object.entries(refs).map(([name, oid]) => [
    name.replace(/^refs\//, "refs/host/"),
    oid,
  ]);
  return { ...Object.fromEntries(named), ...(head !== null && { "refs/host-head": head }) };
}

async function withCommits(source: string, wanted: readonly Wanted[]): Promise<Wanted[]> {
  if (wanted.length === 0) return [];
  const input = wanted.map(({ oid }) => `${oid}^{commit}\n`).join("");
  const answers = (await safeGit(["cat-file", "--batch-check"], { gitDir: source, input })).split(
    "\n",
  );
  return wanted.filter((_, index) => /^[\da-f]+ commit /.test(answers[index] ?? ""));
}

/** HEAD by itself, so that nothing else can keep it from being brought out. */
async function fetchEach(
  source: string,
  target: string,
  repository: RecordedRepository,
  wanted: readonly Wanted[],
): Promise<{ refs: Wanted[]; warnings: string[] }> {
  const fetched: Wanted[] = [];
  const warnings: string[] = [];
  const groups = [
    wanted.filter(({ name }) => name === "HEAD"),
    wanted.filter(({ name }) => name !== "HEAD"),
  ];
  for (const [index, group] of groups.entries()) {
    if (group.length === 0) continue;
    const numbered = group.map(
      ({ oid }, number) => [`refs/heads/${index}-${number}`, oid] as const,
    );
    writeFileSync(join(source, "packed-refs"), packedRefs(Object.fromEntries(numbered)));
    const specs = numbered.map(([name]) => `+${name}:${name.replace("heads", "new")}`);
    const options = ["--quiet", "--no-tags", "--no-recurse-submodules", "--refmap="];
    try {
      await safeGit(["-c", "fetch.unpackLimit=1", "fetch", ...options, source, ...specs], {
        gitDir: target,
        env: { GIT_OBJECT_DIRECTORY: join(repository.common_dir, "objects") },
      });
      fetched.push(...group);
    } catch (error) {
      if (!(error instanceof GitFailed) || index === 0) throw error;
      warnings.push(`other branches of the run could not be brought out: ${error.message}`);
    }
  }
  return { refs: fetched, warnings };
}

async function writeRefs(
  target: string,
  repository: RecordedRepository,
  seen: UntrustedRefs,
  fetched: readonly Wanted[],
  jobId: string,
): Promise<Imported> {
  const { git_dir: gitDir, head: before } = repository;
  const warnings: string[] = [];
  const written: string[] = [];
  const head = fetched.find(({ name }) => name === "HEAD");
  const commits = head ? await countCommits(target, head.oid, before) : 0;
  for (const { name, oid, target: ref } of fetched) {
    if (name === "HEAD" && commits === 0) continue;
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
async function countCommits(target: string, oid: string, before: string | null): Promise<number> {
  const known = before === null ? [] : [`^${before}`];
  const args = ["rev-list", "--count", oid, ...known, "--not", "--glob=refs/host/*"];
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

function packsOf({ common_dir }: RecordedRepository): string[] {
  return readdirSync(join(common_dir, "objects/pack"));
}

/** What root wrote belongs to the repository's owner. */
function giveToOwner(repository: RecordedRepository, packsBefore: ReadonlySet<string>): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = lstatSync(repository.common_dir);
  const packs = packsOf(repository).filter((name) => !packsBefore.has(name));
  for (const name of packs) chownSync(join(repository.common_dir, "objects/pack", name), uid, gid);
  const names = readdirSync(join(repository.common_dir, "refs"));
  for (const name of names.filter((one) => /^herdctl(-|$)/.test(one))) {
    giveAll(join(repository.common_dir, "refs", name), uid, gid);
  }
}

function giveAll(folder: string, uid: number, gid: number): void {
  chownSync(folder, uid, gid);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) giveAll(path, uid, gid);
    else chownSync(path, uid, gid);
  }
}
