import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { kindOf } from "../docker/workspace-facts.ts";
import { type ConfigEntry, GitFailed, gitOrUndefined, listConfig, safeGit } from "./safe-git.ts";

/** The operator's repository of a workspace. Containers never write to it. */
export interface HostRepository {
  gitDir: string;
  /** The same folder, except in a linked worktree. */
  commonDir: string;
  /** Object folders: its own first, then its alternates. */
  objects: string[];
  objectFormat: "sha1" | "sha256";
  head: HostHead;
  config: ConfigEntry[];
}

export interface HostHead {
  /** Null if HEAD is detached. */
  ref: string | null;
  /** Null before the first commit. */
  oid: string | null;
}

export type RepositoryLookup =
  | { kind: "found"; repository: HostRepository }
  | { kind: "none" }
  | { kind: "unusable"; why: string };

const maxAlternateDepth = 5;

/** Finds the repository of a workspace, whose `.git` is a folder or a file that refers to one. */
export async function findRepository(workspace: string): Promise<RepositoryLookup> {
  const dotGit = join(workspace, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder") {
    // The placeholder of another container in the same workspace is empty.
    if (!existsSync(join(dotGit, "HEAD"))) return { kind: "none" };
    return await lookUpRepository(dotGit);
  }
  if (kind !== "file") return { kind: "none" };
  const gitDir = linkedGitDir(dotGit);
  if (gitDir === undefined)
    return { kind: "unusable", why: "`.git` does not refer to a git directory" };
  if (/* defence: git-file-points-back */ !(await linksBackToWorkspace(gitDir, workspace))) {
    return {
      kind: "unusable",
      why: `\`.git\` refers to ${gitDir}, which belongs to another folder`,
    };
  }
  return await lookUpRepository(gitDir);
}

async function lookUpRepository(gitDir: string): Promise<RepositoryLookup> {
  try {
    return { kind: "found", repository: await readRepository(gitDir) };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return { kind: "unusable", why: error.message };
  }
}

async function readRepository(givenGitDir: string): Promise<HostRepository> {
  const gitDir = realpathSync(givenGitDir);
  const commonDirOutput = (await safeGit(["rev-parse", "--git-common-dir"], { gitDir })).trim();
  const commonDir = realpathSync(resolve(gitDir, latin1ToPath(commonDirOutput)));
  const config = await listConfig({ gitDir, withUserConfig: true });
  const format = config.find(({ key }) => key === "extensions.objectformat")?.value;
  return {
    gitDir,
    commonDir,
    objects: objectFolders(realpathSync(join(commonDir, "objects"))),
    objectFormat: format?.toLowerCase() === "sha256" ? "sha256" : "sha1",
    head: await readHead(gitDir),
    config,
  };
}

export async function readHead(gitDir: string): Promise<HostHead> {
  const ref = await gitOrUndefined(["symbolic-ref", "-q", "HEAD"], { gitDir });
  const oid = await gitOrUndefined(["rev-parse", "-q", "--verify", "HEAD^{commit}"], { gitDir });
  return { ref: ref?.trim() ?? null, oid: oid?.trim() ?? null };
}

/** The repository that contains a folder; its configuration may refer to files in that folder. */
export function enclosingGitDir(folder: string): string | undefined {
  const dotGit = join(folder, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder" && existsSync(join(dotGit, "HEAD"))) return dotGit;
  if (kind === "file") return linkedGitDir(dotGit);
  const parent = dirname(folder);
  return parent === folder ? undefined : enclosingGitDir(parent);
}

/** Whether a folder is itself a git directory, whose hooks and configuration a container could write. */
export function isBareRepository(folder: string): boolean {
  return (
    kindOf(join(folder, "HEAD")) === "file" &&
    kindOf(join(folder, "objects")) === "folder" &&
    kindOf(join(folder, "refs")) === "folder"
  );
}

function linkedGitDir(file: string): string | undefined {
  const [, path] = /^gitdir: ([^\n]+)\n*$/.exec(readFileSync(file, "utf8").slice(0, 8_192)) ?? [];
  if (path === undefined) return undefined;
  const gitDir = resolve(dirname(file), path);
  return existsSync(join(gitDir, "HEAD")) ? gitDir : undefined;
}

/** Without this check, a `.git` file from an unpacked archive could refer to any repository of the user. */
async function linksBackToWorkspace(gitDir: string, workspace: string): Promise<boolean> {
  const backlinkFile = join(gitDir, "gitdir");
  if (existsSync(backlinkFile)) {
    const linkedFolder = dirname(resolve(gitDir, readFileSync(backlinkFile, "utf8").trim()));
    return existsSync(linkedFolder) && realpathSync(linkedFolder) === workspace;
  }
  const args = ["config", "--file", join(gitDir, "config"), "--get", "core.worktree"];
  const worktree = (await gitOrUndefined(args, {}))?.trim();
  if (!worktree) return false;
  const linkedFolder = resolve(gitDir, latin1ToPath(worktree));
  return existsSync(linkedFolder) && realpathSync(linkedFolder) === workspace;
}

function objectFolders(objects: string, depth = 0): string[] {
  const file = join(objects, "info/alternates");
  if (depth > maxAlternateDepth || !existsSync(file)) return [objects];
  const lines = readFileSync(file, "utf8").split("\n");
  const alternates = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const alternateFolders = alternates
    .map((path) => (isAbsolute(path) ? path : resolve(objects, path)))
    .filter((path) => existsSync(path))
    .flatMap((path) => objectFolders(realpathSync(path), depth + 1));
  return [...new Set([objects, ...alternateFolders])];
}

export function latin1ToPath(text: string): string {
  return Buffer.from(text, "latin1").toString("utf8");
}
