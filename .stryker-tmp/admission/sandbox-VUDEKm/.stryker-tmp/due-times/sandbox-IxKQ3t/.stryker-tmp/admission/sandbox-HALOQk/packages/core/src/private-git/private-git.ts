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
import type { ContainerUser } from "../docker/docker-config.ts";
import { containerPaths } from "../lib/container-layout.ts";
import { chownRecursively } from "../workspaces/folder.ts";
import { type GitHistory, gitLayout, readHistory } from "./git-record.ts";
import type { HostRepository } from "./host-repository.ts";
import { privateConfig } from "./private-config.ts";
import { gitOrUndefined, safeGit } from "./safe-git.ts";

/** The initial state of a private git directory. */
export interface GitStart {
  head: string | null;
  headRef: string | null;
  /** Object ids by full name, as in `packed-refs`. */
  refs: Record<string, string>;
}

const copiedRefs = ["refs/heads", "refs/tags", "refs/remotes"];
const maxExcludeBytes = 1024 * 1024;

/**
 * Creates the directory that a container sees in place of `.git`, with separate references, index and
 * settings, and read-only access to the host's objects. The host's directory is only read.
 */
export async function makePrivateGit(
  folder: string,
  repository: HostRepository,
  historyFile: string,
  user: ContainerUser,
): Promise<GitStart> {
  const { privateDir, gitFile, noAlternates } = gitLayout(folder);
  rmSync(privateDir, { recursive: true, force: true });
  for (const subfolder of [
    "objects/info",
    "objects/pack",
    "refs/heads",
    "refs/tags",
    "info",
    "hooks",
  ]) {
    mkdirSync(join(privateDir, subfolder), { recursive: true, mode: 0o755 });
  }
  const start = await chooseStart(repository, historyFile);
  const head = start.headRef === null ? start.head : `ref: ${start.headRef}`;
  writeFileSync(join(privateDir, "HEAD"), `${head}\n`, "latin1");
  writeFileSync(join(privateDir, "config"), await privateConfig(repository));
  writeFileSync(join(privateDir, "packed-refs"), formatPackedRefs(start.refs), "latin1");
  copySmallFiles(repository, privateDir);
  await makeIndex(repository, privateDir, start.head);
  const alternates = repository.objects.map((_, index) => `${containerObjectsPath(index)}\n`);
  writeFileSync(join(privateDir, "objects/info/alternates"), alternates.join(""));
  writeFileSync(gitFile, `gitdir: ${containerPaths.git}\n`, { mode: 0o644 });
  writeFileSync(noAlternates, "", { mode: 0o644 });
  if (process.getuid?.() === 0) await chownRecursively(user, privateDir);
  return start;
}

export function containerObjectsPath(index: number): string {
  return `${containerPaths.objects}/${index}`;
}

export function formatPackedRefs(refs: Readonly<Record<string, string>>): string {
  const names = Object.keys(refs).sort((a, b) => (a < b ? -1 : 1));
  const lines = names.map((name) => `${refs[name]} ${name}\n`);
  return `# pack-refs with: sorted \n${lines.join("")}`;
}

/** References of the host's repository, plus the agent's own branches that it does not have. */
async function chooseStart(repository: HostRepository, historyFile: string): Promise<GitStart> {
  const { gitDir, head } = repository;
  const refs = await listRefs(gitDir, copiedRefs);
  const start: GitStart = { head: head.oid, headRef: head.ref, refs };
  const history = readHistory(historyFile);
  if (history === undefined || !(await isHistoryKept(repository, history))) return start;
  for (const [name, oid] of Object.entries(history.branches)) {
    const hasCommit = await gitOrUndefined(["cat-file", "-e", `${oid}^{commit}`], { gitDir });
    if (hasCommit !== undefined) refs[name] ??= oid;
  }
  if (!(await canContinueHistory(repository, history))) return start;
  if (history.head_ref !== null) refs[history.head_ref] = history.head;
  return { head: history.head, headRef: history.head_ref, refs };
}

/** False if the operator has deleted the reference to the agent's commits. */
async function isHistoryKept({ gitDir }: HostRepository, history: GitHistory): Promise<boolean> {
  const keptOid = await gitOrUndefined(["rev-parse", "-q", "--verify", history.kept_as], {
    gitDir,
  });
  return keptOid?.trim() === history.head;
}

/** Whether the host's HEAD has not moved since, and the agent's commits build on it. */
async function canContinueHistory(
  { gitDir, head }: HostRepository,
  { host_head, host_ref, head: lastCommit }: GitHistory,
): Promise<boolean> {
  if (host_head !== head.oid || host_ref !== head.ref) return false;
  if (head.oid === null) return true;
  const args = ["merge-base", "--is-ancestor", head.oid, lastCommit];
  return (await gitOrUndefined(args, { gitDir })) !== undefined;
}

export async function listRefs(
  gitDir: string,
  prefixes: readonly string[],
): Promise<Record<string, string>> {
  const format = "--format=%(objectname) %(refname)";
  const listed = await safeGit(["for-each-ref", format, ...prefixes], { gitDir });
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
 * Starts from the host's index, which knows which files are unchanged, so that git does not have to
 * hash all files. Changes staged on the host are not staged here.
 */
async function makeIndex(
  { gitDir, objects }: HostRepository,
  privateDir: string,
  head: string | null,
): Promise<void> {
  if (head === null) return;
  const gitCall = {
    gitDir: privateDir,
    env: { GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.map(quotedPath).join(":") },
  };
  const args = ["-c", "core.splitIndex=false", "read-tree", "--reset", head];
  const names = readdirSync(gitDir).filter((name) => /^(index|sharedindex\.[\da-f]+)$/.test(name));
  for (const name of names) copyFileSync(join(gitDir, name), join(privateDir, name));
  const isIndexRead = (await gitOrUndefined(args, gitCall)) !== undefined;
  for (const name of names) {
    if (name !== "index" || !isIndexRead) rmSync(join(privateDir, name), { force: true });
  }
  if (!isIndexRead) await safeGit(args, gitCall);
}

function quotedPath(path: string): string {
  return /[:"\\]/.test(path) ? `"${path.replace(/["\\]/g, "\\$&")}"` : path;
}
