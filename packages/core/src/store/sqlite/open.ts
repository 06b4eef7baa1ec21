import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "@herdctl/protocol";
import { identifyProcess } from "../../lib/process-identity.ts";
import { withFileErrors } from "../files/job-folder.ts";
import { damagedError } from "../sql/sql-program.ts";
import { SqliteDatabase } from "./database.ts";
import { createSchema, migrate, migrations } from "./migrations.ts";

/*
 * Only SQLite opens the database file: closing any other descriptor would drop this process's locks
 * on it (a property of POSIX locks). Reading its size and name is safe.
 */

/**
 * A check reads every page, about 4 ms per megabyte. So a small database is checked whenever it is
 * opened for writing, and a larger one only after a shutdown that left its journal behind.
 */
const alwaysCheckMaxBytes = 4 * 1024 * 1024;

/** For the only writer. A missing database is created; a damaged one is refused unchanged. */
export function openForWriting(file: string, steps = migrations): SqliteDatabase {
  withFileErrors(file, () => removeStaleDrafts(file));
  if (!databaseExists(file)) {
    refuseMissingRecords(file, listJobFolders(file));
    withFileErrors(file, () => createDatabase(file, steps));
  }
  checkDatabase(file, steps.length);
  const database = new SqliteDatabase(file);
  try {
    migrate(database, steps);
    return database;
  } catch (error) {
    database.closeSync();
    throw error;
  }
}

/** If nothing has run yet, there is nothing to read. That is no error and leaves no files. */
export function openForReading(file: string, steps = migrations): SqliteDatabase {
  if (!databaseExists(file)) {
    const empty = new SqliteDatabase(":memory:");
    createSchema(empty, steps);
    return empty;
  }
  const database = new SqliteDatabase(file, { readOnly: true });
  try {
    checkVersion(database, steps.length);
    if (database.schemaVersion < steps.length) {
      throw new UserError("state_older", `${file} was written by an older herdctl`);
    }
    return database;
  } catch (error) {
    database.closeSync();
    throw error;
  }
}

/** Why `openForWriting` would refuse the database as damaged. Changes nothing. */
export function findDamage(file: string, steps = migrations): UserError | undefined {
  try {
    if (databaseExists(file)) checkDatabase(file, steps.length);
    else refuseMissingRecords(file, listJobFolders(file));
    return undefined;
  } catch (error) {
    if (error instanceof UserError && error.code === "state_damaged") return error;
    throw error;
  }
}

/** Renames a database, its journal and the job folders. Nothing is deleted. */
export function moveDamagedAside(file: string, now: Date): string {
  const suffixOfCopy = `.damaged-${now.toISOString().replaceAll(":", "")}`;
  const name = file + suffixOfCopy;
  // The main file comes first: without its journal it would seem intact, although the last writes
  // are missing.
  for (const suffix of ["", "-wal", "-shm"]) {
    if (fileBytes(file + suffix) === undefined) continue;
    withFileErrors(file, () => renameSync(file + suffix, name + suffix));
  }
  const jobs = jobsFolder(file);
  if (existsSync(jobs)) withFileErrors(file, () => renameSync(jobs, jobs + suffixOfCopy));
  syncFolder(file);
  return name;
}

function databaseExists(file: string): boolean {
  const size = fileBytes(file);
  if (size === 0) throw damagedError(file, "it is empty");
  if (size !== undefined) return true;
  if (walBytes(file) > 0) throw damagedError(file, "it is missing, but its journal exists");
  return false;
}

/**
 * Created completely under another name first, so that an incomplete database never has the real
 * name.
 */
function createDatabase(file: string, steps: readonly string[]): void {
  const draftFile = `${file}.new-${process.pid}`;
  rmSync(draftFile, { force: true });
  closeSync(openSync(draftFile, "wx", /* defence: database-file-mode */ 0o600));
  try {
    const database = new SqliteDatabase(draftFile);
    try {
      database.exec("PRAGMA journal_mode = WAL");
      createSchema(database, steps);
    } finally {
      database.closeSync();
    }
    linkUnlessExists(draftFile, file);
  } finally {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(draftFile + suffix, { force: true });
  }
  syncFolder(file);
}

/** Drafts of processes that died while they created a database. */
function removeStaleDrafts(file: string): void {
  const folder = dirname(file);
  const start = `${basename(file)}.new-`;
  for (const name of readdirSync(folder)) {
    const pid = name.startsWith(start) ? Number.parseInt(name.slice(start.length), 10) : 0;
    if (pid > 0 && !identifyProcess(pid)) rmSync(join(folder, name), { force: true });
  }
}

/** Another process may have been faster; its database is then used. */
function linkUnlessExists(draftFile: string, file: string): void {
  try {
    linkSync(draftFile, file);
  } catch (error) {
    if (fileBytes(file) === undefined) throw error;
  }
}

/** On a read-only connection, because closing a writable one would merge the journal. */
function checkDatabase(file: string, latestVersion: number): void {
  const hasJournal = walBytes(file) > 0;
  const database = new SqliteDatabase(file, { readOnly: true });
  try {
    checkVersion(database, latestVersion);
    if (hasJournal || (fileBytes(file) ?? 0) <= alwaysCheckMaxBytes) checkPages(database);
    checkJobFolders(database);
  } finally {
    database.closeSync();
  }
}

function checkVersion(database: SqliteDatabase, latestVersion: number): void {
  const { name: file, schemaVersion } = database;
  if (schemaVersion === 0) throw damagedError(file, "it contains no herdctl state");
  if (schemaVersion <= latestVersion) return;
  const message = `${file} was written by a newer herdctl (version ${schemaVersion}; this one supports up to ${latestVersion})`;
  throw new UserError("state_newer", message);
}

function checkPages(database: SqliteDatabase): void {
  const found = database.all("PRAGMA quick_check(3)").map((row) => String(row.quick_check));
  if (found.join() !== "ok") throw damagedError(database.name, found.join("; "));
}

/**
 * SQLite ignores the rest of a journal from the first damaged page on, and all of a missing one, so
 * acknowledged records disappear without an error. The folder of a job is created after its record
 * and removed before it, so a folder without a record shows the loss.
 */
function checkJobFolders(database: SqliteDatabase): void {
  const folders = listJobFolders(database.name);
  const recorded = new Set(database.all("SELECT id FROM jobs").map(({ id }) => id));
  refuseMissingRecords(
    database.name,
    folders.filter((id) => !recorded.has(id)),
  );
}

function refuseMissingRecords(file: string, jobs: readonly string[]): void {
  const [first] = jobs;
  if (first === undefined) return;
  const finding =
    jobs.length === 1
      ? `it has no record of ${first}, whose folder exists`
      : `it has no records of ${jobs.length} jobs whose folders exist, for example ${first}`;
  const hint = `herdctl has not changed anything. \`herdctl doctor --fix\` restores the last backup. To continue without these records, move the folders out of ${jobsFolder(file)}.`;
  throw damagedError(file, finding, { hint });
}

function listJobFolders(file: string): string[] {
  const folder = jobsFolder(file);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((name) => name.startsWith("job-"));
}

function jobsFolder(file: string): string {
  return join(dirname(file), "jobs");
}

function walBytes(file: string): number {
  return fileBytes(`${file}-wal`) ?? 0;
}

function fileBytes(file: string): number | undefined {
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
