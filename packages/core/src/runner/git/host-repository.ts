import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { kindOf } from "../container/workspace-facts.ts";
import { type ConfigEntry, listConfig } from "./config-list.ts";
import { GitFailed, gitOrUndefined, safeGit } from "./safe-git.ts";

/** The operator's repository to which a workspace belongs. No container has ever written to it. */
export interface HostRepository {
  gitDir: string;
  /** The same folder, except in a linked worktree. */
  commonDir: string;
  /** Object folders: its own first, then those it borrows from. */
  objects: string[];
  objectFormat: "sha1" | "sha256";
  head: HostHead;
  config: ConfigEntry[];
}

export interface HostHead {
  /** Null when HEAD is detached. */
  ref: string | null;
  /** Null before the first commit. */
  oid: string | null;
}

export type FoundRepository =
  | { kind: "found"; repository: HostRepository }
  | { kind: "none" }
  | { kind: "unusable"; why: string };

const maxAlternateDepth = 5;

/** Looks at `.git` of a workspace, which is a folder, or a file that names one elsewhere. */
export async function findRepository(workspace: string): Promise<FoundRepository> {
  const dotGit = join(workspace, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder") {
    // An empty one stands there while another container has the workspace.
    if (!existsSync(join(dotGit, "HEAD"))) return { kind: "none" };
    return await inspect(dotGit);
  }
  if (kind !== "file") return { kind: "none" };
  const gitDir = linkedGitDir(dotGit);
  if (gitDir === undefined) return { kind: "unusable", why: "`.git` names no git directory" };
  if (!(await pointsBack(gitDir, workspace))) {
    return { kind: "unusable", why: `${gitDir}, which \`.git\` names, belongs to another folder` };
  }
  return await inspect(gitDir);
}

async function inspect(gitDir: string): Promise<FoundRepository> {
  try {
    return { kind: "found", repository: await readRepository(gitDir) };
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    return { kind: "unusable", why: error.message };
  }
}

async function readRepository(given: string): Promise<HostRepository> {
  const gitDir = realpathSync(given);
  const common = (await safeGit(["rev-parse", "--git-common-dir"], { gitDir })).trim();
  const commonDir = realpathSync(resolve(gitDir, latin1ToPath(common)));
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

/** The repository in which a folder lies, for what its configuration may name there. */
export function enclosingGitDir(folder: string): string | undefined {
  const dotGit = join(folder, ".git");
  const kind = kindOf(dotGit);
  if (kind === "folder" && existsSync(join(dotGit, "HEAD"))) return dotGit;
  if (kind === "file") return linkedGitDir(dotGit);
  const parent = dirname(folder);
  return parent === folder ? undefined : enclosingGitDir(parent);
}

/** A folder that is itself a git directory; the container would write its hooks and configuration. */
export function looksBare(folder: string): boolean {
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

/** A `.git` file in an unpacked archive could name any repository of the user. */
async function pointsBack(gitDir: string, workspace: string): Promise<boolean> {
  const back = join(gitDir, "gitdir");
  if (existsSync(back)) {
    const named = dirname(resolve(gitDir, readFileSync(back, "utf8").trim()));
    return existsSync(named) && realpathSync(named) === workspace;
  }
  const args = ["config", "--file", join(gitDir, "config"), "--get", "core.worktree"];
  const worktree = (await gitOrUndefined(args, {}))?.trim();
  if (!worktree) return false;
  const named = resolve(gitDir, latin1ToPath(worktree));
  return existsSync(named) && realpathSync(named) === workspace;
}

function objectFolders(objects: string, depth = 0): string[] {
  const file = join(objects, "info/alternates");
  if (depth > maxAlternateDepth || !existsSync(file)) return [objects];
  const lines = readFileSync(file, "utf8").split("\n");
  const others = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const borrowed = others
    .map((path) => (isAbsolute(path) ? path : resolve(objects, path)))
    .filter((path) => existsSync(path))
    .flatMap((path) => objectFolders(realpathSync(path), depth + 1));
  return [...new Set([objects, ...borrowed])];
}

export function latin1ToPath(text: string): string {
  return Buffer.from(text, "latin1").toString("utf8");
}
