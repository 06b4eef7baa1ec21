import { randomBytes } from "node:crypto";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { hasErrorCode, type ProcessIdentity } from "@herdctl/protocol";
import { processIdentitySchema } from "@herdctl/protocol/schemas";
import { runSubfolders } from "../../docker/mounts.ts";
import { currentProcess, isAlive } from "../../lib/process-identity.ts";
import { makeSocketPath, removeSocket } from "../../lib/socket-path.ts";
import { removeFinishedPrivateGit } from "../../private-git/private-git-lifecycle.ts";
import { killRunProcesses } from "../../process-tree/kill-processes.ts";
import { ensureJobDir } from "../../store/files/job-folder.ts";
import { failPoint } from "../../testing/failpoints.ts";
import { type RunnerClaim, runnerClaimSchema } from "./messages.ts";

/**
 * True for exactly one caller per attempt. The file appears complete or not at all. It does not have
 * to survive a power cut, because no runner does.
 */
export function claimAttempt(jobDir: string, file: RunnerClaim): boolean {
  const target = runnerFilePath(jobDir, file.attempt);
  const tempPath = `${target}.${randomBytes(6).toString("hex")}`;
  ensureJobDir(jobDir);
  try {
    failPoint("claim write");
    writeFileSync(tempPath, `${JSON.stringify(file)}\n`, { flag: "wx", mode: 0o600 });
    linkSync(tempPath, target);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  } finally {
    removeTempFile(tempPath);
  }
}

function removeTempFile(tempPath: string): void {
  try {
    unlinkSync(tempPath);
  } catch {
    // It was never written, or cleanup after a dead runner has removed it.
  }
}

type ClaimReadResult =
  | { kind: "none" }
  | { kind: "found"; file: RunnerClaim }
  | { kind: "damaged" };

export async function readClaim(jobDir: string, attempt: number): Promise<ClaimReadResult> {
  try {
    const text = await readFile(runnerFilePath(jobDir, attempt), "utf8");
    return { kind: "found", file: runnerClaimSchema.parse(JSON.parse(text)) };
  } catch (error) {
    const isMissing = hasErrorCode(error, "ENOENT");
    return { kind: isMissing ? "none" : "damaged" };
  }
}

function runnerFilePath(jobDir: string, attempt: number): string {
  return join(jobDir, `runner-${attempt}.json`);
}

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

/** The folder of a run's private git directory, until its commits are imported. */
export function privateGitFolder(stateDir: string, runToken: string): string {
  return join(stateDir, "docker-git/runs", runToken);
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

export function runnerSocketPath(jobDir: string): string {
  return join(jobDir, "runner.sock");
}

/** Command-line flags that make a runner preload libraries that are slow to import. */
export const preloadFlags = { sdk: "--sdk", docker: "--docker" } as const;

export type PreloadLibraries = Record<keyof typeof preloadFlags, boolean>;

/** The built runner program, also when this code runs from source. */
export function runnerProgramPath(): string {
  const here = import.meta.url;
  const builtPath = here.endsWith(".ts")
    ? "../../../dist/runner/process/main.mjs"
    : "./runner/process/main.mjs";
  return fileURLToPath(new URL(builtPath, here));
}

export const apiSocketName = "api.sock";

/**
 * Where the gateway of a run on the host listens: a socket in a folder that only this user can open.
 * With a TCP port, any user of the machine could take the port after a crash, receive the
 * conversation of an orphaned `claude` and control it through the answers.
 */
export function makeHostSocket(folder: string): string {
  ensureJobDir(dirname(folder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return makeSocketPath(join(folder, apiSocketName));
}

/** Also removes the socket of a run that was killed. */
export function removeHostSocket(folder: string): void {
  removeSocket(join(folder, apiSocketName));
  rmSync(folder, { recursive: true, force: true });
}
