import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkingDirectory } from "../config/resolve.ts";
import type { ContainerUser } from "./runtime/docker-config.ts";
import { draftFor, isBeingCloned } from "./workspace-draft.ts";
import { checkFolder, codeOf, type Workspace, workspaceProblem } from "./workspace-folder.ts";
import { gitsWords, runGit } from "./workspace-git.ts";
import { giveTo } from "./workspace-owner.ts";
import { isSameRepo, maskCredentials, splitCredentials } from "./workspace-repo.ts";

type Clone = NonNullable<WorkingDirectory["clone"]>;

const pollEvery = 200;

/**
 * Clones once. A clone that is there stays as it is: it may hold work of the last run that is
 * not pushed yet, and bringing it up to date is a step that the agent can take itself.
 */
export async function prepareClone(
  path: string,
  clone: Clone,
  signal: AbortSignal,
  owner?: ContainerUser,
): Promise<Workspace> {
  for (;;) {
    const present = await lookAt(path, clone.repo, signal);
    if (present) return present;
    if (!(await isBeingCloned(path))) return await makeClone(path, clone, signal, owner);
    await delay(pollEvery, undefined, { signal });
  }
}

/** Undefined when there is nothing yet. */
async function lookAt(
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
  if (failure) return gitMissing(failure);
  if (origin && isSameRepo(origin, repo, dirname(path))) return folder;
  const what = origin ? `a clone of ${maskCredentials(origin)}` : "not empty and no clone";
  return workspaceProblem(
    `${path} is ${what}, but the agent's own clone of ${maskCredentials(repo)} belongs there.`,
    "Move that folder away, or choose another `root` under `working_directory`.",
  );
}

async function isAbsent(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => false,
    (error) => codeOf(error) === "ENOENT",
  );
}

/** Made beside its place and then moved there, so that half a clone is never taken for a whole. */
async function makeClone(
  path: string,
  clone: Clone,
  signal: AbortSignal,
  owner: ContainerUser | undefined,
): Promise<Workspace> {
  const root = dirname(path);
  const draft = draftFor(path);
  try {
    await mkdir(root, { recursive: true });
    const { url, header } = splitCredentials(clone.repo);
    const args = [...cloneArguments(clone), "--", url, draft];
    const { code, stderr, failure } = await runGit(args, root, signal, header);
    if (failure) return gitMissing(failure);
    if (code !== 0) return notCloned(clone, stderr);
    if (owner) await giveTo(owner, draft);
    return await moveIntoPlace(draft, path, clone, signal);
  } catch (error) {
    if (signal.aborted || !isFileError(error)) throw error;
    return workspaceProblem(
      `The clone ${path} cannot be made (${codeOf(error)}).`,
      "Check that its `root` is a folder in which you may write, and that the disk has room.",
    );
  } finally {
    await rm(draft, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** By the usual way of transport also for a repository on this disk: `depth` counts, and no file is shared. */
function cloneArguments({ branch, depth }: Clone): string[] {
  return [
    ...["clone", "--no-local", "--origin=origin"],
    ...(branch === undefined ? [] : [`--branch=${branch}`]),
    ...(depth === undefined ? [] : [`--depth=${depth}`]),
  ];
}

async function moveIntoPlace(
  draft: string,
  path: string,
  clone: Clone,
  signal: AbortSignal,
): Promise<Workspace> {
  try {
    await rename(draft, path);
    return { kind: "ready", path };
  } catch (error) {
    // Another run was quicker by a moment.
    const present = await lookAt(path, clone.repo, signal);
    if (present) return present;
    throw error;
  }
}

const remedies: [RegExp, string][] = [
  [/Remote branch .* not found/, "Correct `branch` under `working_directory`."],
  [
    /Authentication failed|could not read Username|Permission denied|Host key|returned error: 40[13]/,
    "Give git a way in that asks no questions: a credential helper, an SSH key, or a token in the URL.",
  ],
  [/No space left/, "Free some space."],
];

function notCloned({ repo }: Clone, stderr: string): Workspace {
  const [, hint = "Check `repo` under `working_directory`, and whether it can be reached."] =
    remedies.find(([pattern]) => pattern.test(stderr)) ?? [];
  return workspaceProblem(
    `${maskCredentials(repo)} could not be cloned: ${gitsWords(stderr) || "git did not say why"}`,
    hint,
  );
}

function gitMissing(failure: string): Workspace {
  return workspaceProblem(
    failure === "ENOENT" ? "git is not installed." : `git could not be started (${failure}).`,
    "Install git, or give the agent a folder with `working_directory: { path: … }`.",
  );
}

function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}
