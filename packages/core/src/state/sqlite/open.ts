import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import { identifyProcess } from "../process-identity.ts";
import { damaged } from "../sql/record.ts";
import { orUnavailable } from "../unavailable.ts";
import { Database, wasOpened } from "./database.ts";
import { lostFromJournal } from "./journal.ts";
import { migrate, migrateNew, migrations } from "./migrations.ts";

/*
 * The database file is never opened but by SQLite: closing any other descriptor of it would drop
 * the locks that this process holds on it (a trait of POSIX locks). Sizes and names are safe to ask.
 */

/**
 * A check reads every page, about 4 ms for each megabyte. So a small database is checked whenever
 * it is opened for writing, a larger one only after a shutdown that left its journal behind.
 */
const cheapToCheck = 4 * 1024 * 1024;

/** For the one writer. A missing database is created; a damaged one is refused untouched. */
export function openForWriting(file: string, steps = migrations): Database {
  orUnavailable(file, () => removeDrafts(file));
  if (!isThere(file)) orUnavailable(file, () => create(file, steps));
  checkJournal(file);
  inspect(file, steps.length);
  const database = new Database(file);
  try {
    migrate(database, steps);
    return database;
  } catch (error) {
    database.closeNow();
    throw error;
  }
}

/** Where nothing has run yet there is nothing to read, which is no error and leaves no trace. */
export function openForReading(file: string, steps = migrations): Database {
  if (!isThere(file)) {
    const empty = new Database(":memory:");
    migrateNew(empty, steps);
    return empty;
  }
  const database = new Database(file, { readOnly: true });
  try {
    checkVersion(database, steps.length);
    if (database.version < steps.length) {
      throw new UserError("state_older", `${file} was written by an older herdctl`);
    }
    return database;
  } catch (error) {
    database.closeNow();
    throw error;
  }
}

/** Moves a database out of the way, with its journal. Nothing is deleted. */
export function setAside(file: string, now: Date): string {
  const name = `${file}.damaged-${now.toISOString().replaceAll(":", "")}`;
  // The main file goes first: without its journal it could pass for sound with the last writes gone.
  for (const suffix of ["", "-wal", "-shm"]) {
    if (sizeOf(file + suffix) === undefined) continue;
    orUnavailable(file, () => renameSync(file + suffix, name + suffix));
  }
  syncFolder(file);
  return name;
}

function isThere(file: string): boolean {
  const size = sizeOf(file);
  if (size === 0) throw damaged(file, "it is empty");
  if (size !== undefined) return true;
  if (walSize(file) > 0) throw damaged(file, "it is missing, but its journal is there");
  return false;
}

/** Made complete under another name first, so that half a database never bears the real one. */
function create(file: string, steps: readonly string[]): void {
  const draft = `${file}.new-${process.pid}`;
  rmSync(draft, { force: true });
  closeSync(openSync(draft, "wx", 0o600));
  try {
    const database = new Database(draft);
    try {
      database.exec("PRAGMA journal_mode = WAL");
      migrateNew(database, steps);
    } finally {
      database.closeNow();
    }
    linkUnlessThere(draft, file);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draft + suffix, { force: true });
  }
  syncFolder(file);
}

/** Drafts of processes that died while they made a database. */
function removeDrafts(file: string): void {
  const folder = dirname(file);
  const start = `${basename(file)}.new-`;
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(start) ? Number.parseInt(name.slice(start.length), 10) : 0;
    if (pid > 0 && !identifyProcess(pid)) rmSync(join(folder, name), { force: true });
  }
}

/** Another process may have been quicker: then its database is the one. */
function linkUnlessThere(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    if (sizeOf(file) === undefined) throw error;
  }
}

/** Whoever opened it has made the index of its journal anew, and locks are on that, too. */
function checkJournal(file: string): void {
  if (wasOpened(file)) return;
  const lost = orUnavailable(file, () => lostFromJournal(file));
  if (lost !== undefined) throw damaged(file, lost);
}

/** On a connection that cannot write, since closing a writing one would fold the journal in. */
function inspect(file: string, newest: number): void {
  const unclean = walSize(file) > 0;
  const database = new Database(file, { readOnly: true });
  try {
    checkVersion(database, newest);
    if (unclean || (sizeOf(file) ?? 0) <= cheapToCheck) checkPages(database);
  } finally {
    database.closeNow();
  }
}

function checkVersion(database: Database, newest: number): void {
  const { name: file, version } = database;
  if (version === 0) throw damaged(file, "it holds no state of herdctl");
  if (version <= newest) return;
  const message = `${file} was written by a newer herdctl (version ${version}; this one knows ${newest})`;
  throw new UserError("state_newer", message);
}

function checkPages(database: Database): void {
  const found = database.all("PRAGMA quick_check(3)").map((row) => String(row.quick_check));
  if (found.join() !== "ok") throw damaged(database.name, found.join("; "));
}

function walSize(file: string): number {
  return sizeOf(`${file}-wal`) ?? 0;
}

function sizeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function syncFolder(file: string): void {
  const folder = openSync(dirname(file), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
