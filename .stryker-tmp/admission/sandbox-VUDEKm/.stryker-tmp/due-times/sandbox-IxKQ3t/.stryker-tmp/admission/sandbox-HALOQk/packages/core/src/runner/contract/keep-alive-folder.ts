import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { ProcessIdentity } from "@herdctl/protocol";
import { processIdentitySchema } from "@herdctl/protocol/schemas";
import { runSubfolders } from "../../docker/mounts.ts";
import { currentProcess, isAlive } from "../../lib/process-identity.ts";
import {
  privateGitFolder,
  removeFinishedPrivateGit,
} from "../../private-git/private-git-lifecycle.ts";
import { killRunProcesses } from "../../process-tree/kill-processes.ts";
import { removeHostSocket } from "./paths.ts";

const holderFileName = "runner.json";

/** Creates the folder of a run whose `claude` may outlive the job; it is separate from the job's folder. */
export function makeKeepAliveFolder(stateDir: string, runToken: string): string {
  const folder = join(keepAliveDir(stateDir), runToken);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, holderFileName), JSON.stringify(currentProcess()), { mode: 0o600 });
  return folder;
}

/** Kills the leftover processes of dead runners and removes their folders. */
export async function removeStaleKeepAliveFolders(stateDir: string): Promise<void> {
  for (const runToken of listNames(keepAliveDir(stateDir))) {
    const folder = join(keepAliveDir(stateDir), runToken);
    if (isRunTokenInUse(stateDir, runToken)) continue;
    await killRunProcesses(runToken);
    removeHostSocket(runSubfolders(folder).socketDir);
    await removeFinishedPrivateGit(privateGitFolder(stateDir, runToken));
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether a living runner uses this token, even if its job has ended. */
export function isRunTokenInUse(stateDir: string, runToken: string): boolean {
  const folder = join(keepAliveDir(stateDir), runToken);
  const holder = readHolder(folder);
  return holder ? isAlive(holder) : isRecentlyCreated(folder);
}

function keepAliveDir(stateDir: string): string {
  return join(stateDir, "live");
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

const newFolderGraceMs = 10_000;

/** A living runner may not have written its identity yet. */
function isRecentlyCreated(folder: string): boolean {
  const { mtimeMs = 0 } = statSync(folder, { throwIfNoEntry: false }) ?? {};
  return Date.now() - mtimeMs < newFolderGraceMs;
}

/** Undefined while the folder is being created or removed. */
function readHolder(folder: string): ProcessIdentity | undefined {
  try {
    const text = readFileSync(join(folder, holderFileName), "utf8");
    return processIdentitySchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
