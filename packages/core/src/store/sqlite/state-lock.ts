import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hasErrorCode, UserError } from "@herdctl/protocol";
import { processIdentitySchema } from "@herdctl/protocol/schemas";
import { z } from "zod";
import { currentProcess, isAlive } from "../../lib/process-identity.ts";
import { ensureStateDir, withFileErrors } from "../files/job-folder.ts";
import { sqliteBusy, sqliteCode, toSqliteUserError } from "./database.ts";
import { type DatabaseSync, openSqlite } from "./driver.ts";

export interface StateLock {
  release(): void;
}

const lockHolderSchema = processIdentitySchema.extend({ acquired_at: z.iso.datetime() });
export type LockHolder = z.infer<typeof lockHolderSchema>;

/**
 * Makes this process the only writer of a state. The system releases the lock when the process
 * dies.
 */
export function acquireLock(stateDir: string): StateLock {
  ensureStateDir(stateDir);
  const connection = openExclusively(join(stateDir, "herdctl.lock"), stateDir);
  const holderFile = join(stateDir, holderFileName);
  heldConnections.add(connection);
  const release = () => {
    if (!heldConnections.delete(connection)) return;
    rmSync(holderFile, { force: true });
    connection.close();
  };
  try {
    withFileErrors(holderFile, () => writeHolder(holderFile));
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

/** The holder of the lock, if that process is alive. */
export function readLockHolder(stateDir: string): LockHolder | undefined {
  try {
    const text = readFileSync(join(stateDir, holderFileName), "utf8");
    const holder = lockHolderSchema.parse(JSON.parse(text));
    return isAlive(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

const holderFileName = "herdctl.lock.json";

/** Keeps connections from being garbage-collected, which would release their locks. */
const heldConnections = new Set<DatabaseSync>();

function openExclusively(file: string, stateDir: string): DatabaseSync {
  withFileErrors(file, () => createPrivateFile(file));
  const connection = openSqlite(file);
  try {
    connection.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection.close();
    throw sqliteCode(error) === sqliteBusy
      ? alreadyRunningError(stateDir)
      : toSqliteUserError(file, error);
  }
}

/** An existing file is not opened: closing it would drop this process's lock on it. */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

function alreadyRunningError(stateDir: string): UserError {
  const holder = readLockHolder(stateDir);
  const who = holder
    ? `process ${holder.pid}, since ${holder.acquired_at}`
    : "a process that is just starting or stopping";
  return new UserError("fleet_running", `A fleet is already running on ${stateDir}: ${who}`);
}

function writeHolder(file: string): void {
  const holder: LockHolder = { ...currentProcess(), acquired_at: new Date().toISOString() };
  const draftFile = `${file}.new`;
  writeFileSync(draftFile, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(draftFile, file);
}
