import { constants } from "node:fs";
import { type FileHandle, open, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import type { SessionHomeKind } from "@herdctl/protocol";
import { errorCode } from "@herdctl/protocol";
import { operatorFiles } from "../../docker/workspace-facts.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import type { RunOrder } from "../contract/run-order.ts";

export interface WorkspaceAccess {
  place: SessionHomeKind;
  cwd: string;
  /** Files and folders that are hidden from the agent or read-only for it; symbolic links are resolved. */
  closedPaths: readonly string[];
}

export type OpenFileResult =
  | { kind: "open"; file: FileHandle; bytes: number }
  | { kind: "missing"; reason: string }
  | { kind: "refused"; reason: string };

/**
 * Opens a workspace file by the path that the agent sees. Checks the opened file rather than its
 * path, because an agent in a container could swap the path between check and open.
 */
export async function openWorkspaceFile(
  access: WorkspaceAccess,
  path: string,
): Promise<OpenFileResult> {
  const visibleRoot = access.place === "docker" ? containerPaths.workspace : access.cwd;
  const relativePath = isAbsolute(path)
    ? relative(visibleRoot, path)
    : relative(".", join(".", path));
  if (relativePath === "" || isAbsolute(relativePath) || relativePath.split(sep).includes(".."))
    return refused(outsideReason);
  try {
    const root = await realpath(access.cwd);
    const closed = await Promise.all(
      access.closedPaths.map((path) => realpath(path).catch(() => path)),
    );
    const requestedPath = join(root, relativePath);
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    const file = await open(requestedPath, constants.O_RDONLY | constants.O_NONBLOCK);
    const opened = await checkOpenedFile(file, { requestedPath, root, closed }).catch(
      async (error) => {
        await file.close();
        throw error;
      },
    );
    if (opened.kind === "refused") await file.close();
    return opened;
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    if (code === "ENOENT" || code === "ENOTDIR") {
      return { kind: "missing", reason: "there is no such file" };
    }
    return refused(reasonByErrorCode[code] ?? `it cannot be read (${code})`);
  }
}

interface FileCheck {
  requestedPath: string;
  root: string;
  closed: readonly string[];
}

async function checkOpenedFile(
  file: FileHandle,
  { requestedPath, root, closed }: FileCheck,
): Promise<OpenFileResult> {
  const real = await resolveOpenPath(file, requestedPath);
  // defence: metadata-file-in-workspace
  // defence: artifact-in-workspace
  if (!real.startsWith(root + sep)) return refused(outsideReason);
  if (closed.some((path) => real === path || real.startsWith(path + sep))) {
    return refused("it belongs to the operator and is closed to the agent");
  }
  const stats = await file.stat();
  return stats.isFile()
    ? { kind: "open", file, bytes: stats.size }
    : refused("it is not a regular file");
}

/**
 * Files that are hidden from a container must not be collected from its workspace: secrets, the
 * fleet's state, the repository's `.git`. Agents on the host can read them anyway.
 */
export function listClosedPaths(
  { place, cwd, agent }: Pick<RunOrder, "place" | "cwd" | "agent">,
  stateDir: string,
): string[] {
  if (place !== "docker") return [];
  const { configFiles, secretFiles } = operatorFiles(agent, stateDir);
  return /* defence: hidden-paths-not-collected */ [
    ...secretFiles,
    ...configFiles,
    join(cwd, ".git"),
  ];
}

/** Containers only run where `/proc` shows the path of an open file. */
async function resolveOpenPath({ fd }: FileHandle, requestedPath: string): Promise<string> {
  return process.platform === "linux"
    ? await readlink(`/proc/self/fd/${fd}`)
    : realpath(requestedPath);
}

const outsideReason = "it is not in the working directory";

const reasonByErrorCode: Record<string, string> = {
  EACCES: "permission to read it is denied",
  ELOOP: outsideReason,
};

function refused(reason: string): OpenFileResult {
  return { kind: "refused", reason };
}
