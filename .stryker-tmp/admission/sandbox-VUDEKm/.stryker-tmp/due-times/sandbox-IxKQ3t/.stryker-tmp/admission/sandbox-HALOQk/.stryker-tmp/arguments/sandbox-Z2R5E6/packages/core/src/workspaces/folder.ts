import { lchown, lstat, opendir, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import { errorCode, outcomes } from "@herdctl/protocol";
import { defaultContainerUser } from "../docker/container-user.ts";
import { type ContainerUser, resolveDockerConfig } from "../docker/docker-config.ts";

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

export function workspaceProblem(
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
  return resolveDockerConfig(agent).user ?? defaultContainerUser;
}

/** Changes the owner of a folder and everything in it. Symbolic links are not followed. */
export async function chownRecursively({ uid, gid }: ContainerUser, folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  for (const { parentPath, name } of entries) await lchown(join(parentPath, name), uid, gid);
  await lchown(folder, uid, gid);
}
