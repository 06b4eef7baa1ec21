import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inside } from "../container/layout.ts";
import type { ContainerUser } from "../runtime/docker-config.ts";
import { giveTo } from "../workspace-owner.ts";
import { type GitHistory, gitLayout, readHistory } from "./git-record.ts";
import type { HostRepository } from "./host-repository.ts";
import { privateConfig } from "./private-config.ts";
import { gitOrUndefined, safeGit } from "./safe-git.ts";

/** Where a private git directory begins. */
export interface GitStart {
  head: string | null;
  headRef: string | null;
  /** Full names and values, as they are packed. */
  refs: Record<string, string>;
}

const copiedRefs = ["refs/heads", "refs/tags", "refs/remotes"];
const maxExcludeBytes = 1024 * 1024;

/**
 * Makes what a container sees in place of `.git`: references, index and settings of its own, and
 * the host's objects to read. The host's directory is only read.
 */
export async function makePrivateGit(
  folder: string,
  repository: HostRepository,
  historyFile: string,
  user: ContainerUser,
): Promise<GitStart> {
  const { privateDir, gitFile, noAlternates } = gitLayout(folder);
  rmSync(privateDir, { recursive: true, force: true });
  for (const inner of [
    "objects/info",
    "objects/pack",
    "refs/heads",
    "refs/tags",
    "info",
    "hooks",
  ]) {
    mkdirSync(join(privateDir, inner), { recursive: true, mode: 0o755 });
  }
  const start = await chooseStart(repository, historyFile);
  const head = start.headRef === null ? start.head : `ref: ${start.headRef}`;
  writeFileSync(join(privateDir, "HEAD"), `${head}\n`, "latin1");
  writeFileSync(join(privateDir, "config"), await privateConfig(repository));
  writeFileSync(join(privateDir, "packed-refs"), packedRefs(start.refs), "latin1");
  copySmallFiles(repository, privateDir);
  await makeIndex(repository, privateDir, start.head);
  const alternates = repository.objects.map((_, index) => `${objectsInside(index)}\n`);
  writeFileSync(join(privateDir, "objects/info/alternates"), alternates.join(""));
  writeFileSync(gitFile, `gitdir: ${inside.git}\n`, { mode: 0o644 });
  writeFileSync(noAlternates, "", { mode: 0o644 });
  if (process.getuid?.() === 0) await giveTo(user, privateDir);
  return start;
}

export function objectsInside(index: number): string {
  return `${inside.objects}/${index}`;
}

export function packedRefs(refs: Readonly<Record<string, string>>): string {
  const names = Object.keys(refs).sort((a, b) => (a < b ? -1 : 1));
  const lines = names.map((name) => `${refs[name]} ${name}\n`);
  return `# pack-refs with: sorted \n${lines.join("")}`;
}

/** References of the host's repository, and those of the agent's own that are not there. */
async function chooseStart(repository: HostRepository, historyFile: string): Promise<GitStart> {
  const { gitDir, head } = repository;
  const refs = await listRefs(gitDir, copiedRefs);
  const start: GitStart = { head: head.oid, headRef: head.ref, refs };
  const history = readHistory(historyFile);
  if (history === undefined || !(await isKept(repository, history))) return start;
  for (const [name, oid] of Object.entries(history.branches)) {
    const isThere = await gitOrUndefined(["cat-file", "-e", `${oid}^{commit}`], { gitDir });
    if (isThere !== undefined) refs[name] ??= oid;
  }
  if (!(await continues(repository, history))) return start;
  if (history.head_ref !== null) refs[history.head_ref] = history.head;
  return { head: history.head, headRef: history.head_ref, refs };
}

/** The reference that holds the agent's commits is the operator's to delete. */
async function isKept({ gitDir }: HostRepository, history: GitHistory): Promise<boolean> {
  const kept = await gitOrUndefined(["rev-parse", "-q", "--verify", history.kept_as], { gitDir });
  return kept?.trim() === history.head;
}

/** The host's HEAD has not moved since, and the agent's commits build on it. */
async function continues(
  { gitDir, head }: HostRepository,
  { host_head, host_ref, head: last }: GitHistory,
): Promise<boolean> {
  if (host_head !== head.oid || host_ref !== head.ref) return false;
  if (head.oid === null) return true;
  const args = ["merge-base", "--is-ancestor", head.oid, last];
  return (await gitOrUndefined(args, { gitDir })) !== undefined;
}

export async function listRefs(
  gitDir: string,
  below: readonly string[],
): Promise<Record<string, string>> {
  const format = "--format=%(objectname) %(refname)";
  const listed = await safeGit(["for-each-ref", format, ...below], { gitDir });
  const refs: Record<string, string> = {};
  for (const line of listed.split("\n").filter(Boolean)) {
    const space = line.indexOf(" ");
    refs[line.slice(space + 1)] = line.slice(0, space);
  }
  return refs;
}

function copySmallFiles({ gitDir, commonDir }: HostRepository, privateDir: string): void {
  const copies: [from: string, to: string][] = [
    [join(commonDir, "shallow"), "shallow"],
    [join(commonDir, "info/exclude"), "info/exclude"],
    [join(gitDir, "info/sparse-checkout"), "info/sparse-checkout"],
  ];
  for (const [from, to] of copies) {
    const isSmall = existsSync(from) && statSync(from).isFile();
    if (isSmall && statSync(from).size <= maxExcludeBytes) copyFileSync(from, join(privateDir, to));
  }
}

/**
 * The host's index tells which files are as they were committed, so that nothing has to be hashed
 * again. What is staged on the host is not staged in here.
 */
async function makeIndex(
  { gitDir, objects }: HostRepository,
  privateDir: string,
  head: string | null,
): Promise<void> {
  if (head === null) return;
  const call = {
    gitDir: privateDir,
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.map(quotedPath).join(":") },
  };
  const args = ["-c", "core.splitIndex=false", "read-tree", "--reset", head];
  const names = readdirSync(gitDir).filter((name) => /^(index|sharedindex\.[\da-f]+)$/.test(name));
  for (const name of names) copyFileSync(join(gitDir, name), join(privateDir, name));
  const isMade = (await gitOrUndefined(args, call)) !== undefined;
  for (const name of names) {
    if (name !== "index" || !isMade) rmSync(join(privateDir, name), { force: true });
  }
  if (!isMade) await safeGit(args, call);
}

function quotedPath(path: string): string {
  return /[:"\\]/.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
}
