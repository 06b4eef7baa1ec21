import { closeSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { UserError } from "../errors/user-error.ts";
import { ensureStateDir } from "./folder.ts";
import { currentProcess, isAlive, processIdentitySchema } from "./process-identity.ts";
import { explain, sqliteBusy, sqliteCode } from "./sqlite/database.ts";
import { DatabaseSync } from "./sqlite/driver.ts";
import { orUnavailable } from "./unavailable.ts";

export interface Lock {
  release(): void;
}

const lockHolderSchema = processIdentitySchema.extend({ acquired_at: z.iso.datetime() });
export type LockHolder = z.infer<typeof lockHolderSchema>;

/** Makes this process the one that writes to a state. The system frees the lock when it dies. */
export function acquireLock(stateDir: string): Lock {
  ensureStateDir(stateDir);
  const connection = lockFile(join(stateDir, "herdctl.lock"), stateDir);
  const holderFile = join(stateDir, holderName);
  held.add(connection);
  const release = () => {
    if (!held.delete(connection)) return;
    rmSync(holderFile, { force: true });
    connection.close();
  };
  try {
    orUnavailable(holderFile, () => writeHolder(holderFile));
    return { release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Who holds the lock, if whoever took it last is alive. */
export function lockHolder(stateDir: string): LockHolder | undefined {
  try {
    const text = readFileSync(join(stateDir, holderName), "utf8");
    const holder = lockHolderSchema.parse(JSON.parse(text));
    return isAlive(holder) ? holder : undefined;
  } catch {
    return undefined;
  }
}

const holderName = "herdctl.lock.json";

/** A connection that is collected as garbage would free its lock. */
const held = new Set<DatabaseSync>();

function lockFile(file: string, stateDir: string): DatabaseSync {
  orUnavailable(file, () => createPrivately(file));
  const connection = new DatabaseSync(file);
  try {
    connection.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return connection;
  } catch (error) {
    connection.close();
    throw sqliteCode(error) === sqliteBusy ? alreadyRunning(stateDir) : explain(file, error);
  }
}

/** An existing file is not opened: closing it again would drop a lock that this process has on it. */
function createPrivately(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function alreadyRunning(stateDir: string): UserError {
  const holder = lockHolder(stateDir);
  const who = holder
    ? `process ${holder.pid}, since ${holder.acquired_at}`
    : "a process that is just starting or stopping";
  return new UserError("fleet_running", `A fleet is already running on ${stateDir}: ${who}`);
}

function writeHolder(file: string): void {
  const holder: LockHolder = { ...currentProcess(), acquired_at: new Date().toISOString() };
  const draft = `${file}.new`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}
