import { randomBytes } from "node:crypto";
import {
  lchown,
  lstat,
  mkdir,
  opendir,
  readdir,
  readlink,
  rename,
  rm,
  stat,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ResolvedAgent, WorkingDirectory } from "@herdctl/config";
import { errorCode, hasErrorCode, outcomes, type ProcessIdentity } from "@herdctl/protocol";
import {
  type ContainerUser,
  defaultContainerUser,
  resolveDockerConfig,
} from "../docker/docker-config.ts";
import { currentProcess, isAlive } from "../lib/process-identity.ts";
import { isSameRepo, maskCredentials, runGit, splitCredentials, summarizeGitError } from "./git.ts";

type Clone = NonNullable<WorkingDirectory["clone"]>;

const pollIntervalMs = 200;

/**
 * Clones if there is no clone yet. An existing clone is not updated: it may contain unpushed work of
 * the last run, and the agent can update it itself.
 */
async function prepareClone(
  path: string,
  clone: Clone,
  signal: AbortSignal,
  owner?: ContainerUser,
): Promise<Workspace> {
  for (;;) {
    const existing = await checkExisting(path, clone.repo, signal);
    if (existing) return existing;
    if (!(await isBeingCloned(path))) return await createClone(path, clone, signal, owner);
    await delay(pollIntervalMs, undefined, { signal });
  }
}

/** Undefined if the folder is missing or empty. */
async function checkExisting(
  path: string,
  repo: string,
  signal: AbortSignal,
): Promise<Workspace | undefined> {
  if (await isAbsent(path)) return undefined;
  const folder = await checkFolder(path);
  if (folder.kind === "problem") return folder;
  if ((await readdir(path)).length === 0) return undefined;
  const config = join(path, ".git", "config");
  const args = ["config", "--file", config, "--get", "remote.origin.url"];
  const { stdout: origin, failure } = await runGit(args, path, signal);
  if (failure) return gitMissingProblem(failure);
  if (origin && isSameRepo(origin, repo, dirname(path))) return folder;
  const content = origin ? `a clone of ${maskCredentials(origin)}` : "not empty and not a clone";
  return workspaceProblem(
    `${path} is ${content}, but must be the agent's clone of ${maskCredentials(repo)}.`,
    "Move that folder away, or choose another `root` under `working_directory`.",
  );
}

async function isAbsent(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => false,
    (error) => hasErrorCode(error, "ENOENT"),
  );
}

/** Clones to a temporary folder and renames it, so that an incomplete clone is never used. */
async function createClone(
  path: string,
  clone: Clone,
  signal: AbortSignal,
  owner: ContainerUser | undefined,
): Promise<Workspace> {
  const root = dirname(path);
  const draftPath = newDraftPath(path);
  try {
    await mkdir(root, { recursive: true });
    const { url, header } = splitCredentials(clone.repo);
    const args = [...cloneArguments(clone), "--", url, draftPath];
    const { code, stderr, failure } = await runGit(args, root, signal, header);
    if (failure) return gitMissingProblem(failure);
    if (code !== 0) return cloneFailedProblem(clone, stderr);
    if (owner) await chownRecursively(owner, draftPath);
    return await moveIntoPlace(draftPath, path, clone, signal);
  } catch (error) {
    if (signal.aborted || !isFileError(error)) throw error;
    return workspaceProblem(
      `The clone ${path} cannot be created (${errorCode(error) ?? error}).`,
      "Check that its `root` is a writable folder, and that the disk has free space.",
    );
  } finally {
    await rm(draftPath, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** `--no-local` uses the normal transport for local repositories, so that `depth` applies and no files are shared. */
function cloneArguments({ branch, depth }: Clone): string[] {
  return [
    ...["clone", "--no-local", "--origin=origin"],
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
    ...(depth === undefined ? [] : [`--depth=${depth}`]),
  ];
}

async function moveIntoPlace(
  draftPath: string,
  path: string,
  clone: Clone,
  signal: AbortSignal,
): Promise<Workspace> {
  try {
    await rename(draftPath, path);
    return { kind: "ready", path };
  } catch (error) {
    // Another run has just created it.
    const existing = await checkExisting(path, clone.repo, signal);
    if (existing) return existing;
    throw error;
  }
}

const hintsByError: [RegExp, string][] = [
  [/Remote branch .* not found/, "Correct `branch` under `working_directory`."],
  [
    /Authentication failed|could not read Username|Permission denied|Host key|returned error: 40[13]/,
    "Set up non-interactive access for git: a credential helper, an SSH key, or a token in the URL.",
  ],
  [/No space left/, "Free some space."],
];

function cloneFailedProblem({ repo }: Clone, stderr: string): Workspace {
  const [, hint = "Check `repo` under `working_directory`, and that it can be reached."] =
    hintsByError.find(([pattern]) => pattern.test(stderr)) ?? [];
  return workspaceProblem(
    `${maskCredentials(repo)} could not be cloned: ${summarizeGitError(stderr) || "git printed no reason"}`,
    hint,
  );
}

function gitMissingProblem(failure: string): Workspace {
  return workspaceProblem(
    failure === "ENOENT" ? "git is not installed." : `git could not be started (${failure}).`,
    "Install git, or give the agent a folder with `working_directory: { path: … }`.",
  );
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** An unfinished clone is next to its final path; its name contains the process that creates it. */
function newDraftPath(path: string): string {
  const { pid, start_time, boot_id } = currentProcess();
  const owner = [pid, encodeURIComponent(start_time), boot_id].join(".");
  return join(dirname(path), `${draftPrefix(path)}${owner}.${randomBytes(4).toString("hex")}`);
}

/** Whether a process is cloning now. Removes unfinished clones of dead processes. */
async function isBeingCloned(path: string): Promise<boolean> {
  const folder = dirname(path);
  const names = await readdir(folder).catch(() => []);
  let isOwned = false;
  for (const name of names) {
    const owner = parseDraftOwner(name, draftPrefix(path));
    if (owner === undefined) continue;
    if (isAlive(owner)) isOwned = true;
    else await rm(join(folder, name), { recursive: true, force: true, maxRetries: 5 });
  }
  return isOwned;
}

function draftPrefix(path: string): string {
  return `.${basename(path)}.clone.`;
}

/** Strict, because folders with a matching name may be removed. */
function parseDraftOwner(name: string, expectedPrefix: string): ProcessIdentity | undefined {
  if (!name.startsWith(expectedPrefix)) return undefined;
  const parts = /^(\d+)\.([\w%-]+)\.([\da-f-]{36})\.[\da-f]{8}$/i.exec(
    name.slice(expectedPrefix.length),
  );
  const [, pid, startTime, bootId] = parts ?? [];
  if (!pid || !startTime || !bootId) return undefined;
  return { pid: Number(pid), start_time: decodeURIComponent(startTime), boot_id: bootId };
}

/** The agent's working directory: an existing folder, or a clone that is created if it is missing. */
export async function prepareWorkspace(
  { path, clone }: WorkingDirectory,
  signal: AbortSignal,
  owner?: ContainerUser,
): Promise<Workspace> {
  return clone ? await prepareClone(path, clone, signal, owner) : await checkFolder(path);
}

export type Workspace = { kind: "ready"; path: string } | WorkspaceProblem;

interface WorkspaceProblem {
  kind: "problem";
  code: "workspace_missing";
  message: string;
  hint: string;
}

/**
 * Opens the folder instead of calling `access`: that checks the real user ID when the program runs
 * with other privileges, and is unreliable on network drives.
 */
export async function checkFolder(path: string): Promise<Workspace> {
  const [readResult, enterResult] = await Promise.allSettled([
    opendir(path).then((folder) => void folder.close()),
    stat(`${path}/.`),
  ]);
  if (readResult.status === "rejected")
    return explainProblem(path, readResult.reason, "cannot be read");
  if (enterResult.status === "rejected")
    return explainProblem(path, enterResult.reason, "cannot be entered");
  return { kind: "ready", path };
}

function workspaceProblem(
  message: string,
  hint: string = outcomes.workspace_missing.hint,
): WorkspaceProblem {
  return { kind: "problem", code: "workspace_missing", message, hint };
}

async function explainProblem(
  path: string,
  error: unknown,
  accessDenied: string,
): Promise<WorkspaceProblem> {
  const code = errorCode(error) ?? String(error);
  const explanations: Record<string, () => Promise<string> | string> = {
    ENOENT: () => explainMissing(path),
    ENOTDIR: () => "is not a folder",
    ELOOP: () => "is a circular symbolic link",
    EACCES: () => accessDenied,
    EPERM: () => accessDenied,
  };
  const why = (await explanations[code]?.()) ?? `cannot be used (${code})`;
  const hint =
    code === "EACCES" || code === "EPERM"
      ? "Give the user that runs herdctl permission to read and enter it."
      : "Create the folder, or correct `working_directory` of the agent.";
  return workspaceProblem(`The working directory ${path} ${why}.`, hint);
}

async function explainMissing(path: string): Promise<string> {
  const isLink = await lstat(path).then(
    (entry) => entry.isSymbolicLink(),
    () => false,
  );
  if (!isLink) return "does not exist";
  return `is a symbolic link to ${await readlink(path)}, which does not exist`;
}

/** The owner of a clone that root creates for an agent in Docker, because containers never run as root. */
export function cloneOwner(agent: ResolvedAgent): ContainerUser | undefined {
  if (!agent.docker.enabled || process.getuid?.() !== 0) return undefined;
  return resolveDockerConfig(agent.docker).user ?? defaultContainerUser;
}

/** Changes the owner of a folder and everything in it. Symbolic links are not followed. */
export async function chownRecursively({ uid, gid }: ContainerUser, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) await lchown(join(parentPath, name), uid, gid);
  await lchown(folder, uid, gid);
}
