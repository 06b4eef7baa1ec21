import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import type { Environment } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { configDirOf } from "../claude/credential.ts";
import { sessionFilePath } from "../claude/session-files/session-file-path.ts";
import { openSqlite } from "../store/sqlite/driver.ts";
import { moveDamagedAside } from "../store/sqlite/open.ts";
import { acquireLock } from "../store/sqlite/state-lock.ts";
import { StateManager } from "../store/state-manager.ts";
import { decryptFile, isEncrypted } from "./encryption.ts";
import {
  archiveLayout,
  type BackupManifest,
  databaseName,
  manifestSchema,
  stateFolders,
} from "./manifest.ts";
import { runTar } from "./tar.ts";

interface RestoreTarget {
  dir: string;
  environment: Environment;
  /** Moves the existing database and job folders aside first. Nothing is deleted. */
  replaceState?: boolean;
}

/**
 * Restores a backup into a folder without state. Paths below the old fleet folder become paths below
 * the new one, so that sessions can be continued. Existing files are kept.
 */
export async function restoreBackup(
  source: { file: string; password?: string },
  { dir, environment, replaceState = false }: RestoreTarget,
): Promise<BackupManifest> {
  const stateDir = join(dir, ".herdctl");
  if (!replaceState && existsSync(join(stateDir, databaseName)))
    throw new UserError("file_exists", `${stateDir} already holds the state of a fleet`, {
      hint: "Restore into another folder, or stop the fleet and add `--replace-state`.",
    });
  // Held while files are replaced, so that no fleet opens the database meanwhile.
  const lock = replaceState ? acquireLock(stateDir) : undefined;
  const staging = mkdtempSync(join(dir, ".herdctl-restore-"));
  try {
    const archive = await openArchive(source, staging);
    await runTar(["-xzf", archive, "--no-same-owner", "-C", staging], []);
    const manifest = readManifest(staging);
    movePaths(join(staging, databaseName), {
      from: manifest,
      dir,
      configDir: configDirOf(environment),
    });
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    // Only now: a backup that cannot be used has changed nothing.
    if (replaceState) moveDamagedAside(join(stateDir, databaseName), new Date());
    const configuration = join(staging, archiveLayout.configuration);
    if (existsSync(configuration)) cpSync(configuration, dir, { recursive: true, force: false });
    for (const name of stateFolders) {
      placeFolder(join(staging, name), join(stateDir, name));
    }
    // Last: from now on this folder has a state.
    renameSync(join(staging, databaseName), join(stateDir, databaseName));
    // Migrates the records of an older version, so that they can be read.
    await (await new StateManager(stateDir).open()).close();
    await placeTranscripts(stateDir, staging, configDirOf(environment));
    return manifest;
  } finally {
    lock?.release();
    rmSync(staging, { recursive: true, force: true });
  }
}

function placeFolder(from: string, to: string): void {
  if (!existsSync(from)) return;
  if (existsSync(to)) cpSync(from, to, { recursive: true, force: false });
  else renameSync(from, to);
}

async function openArchive(
  { file, password }: { file: string; password?: string },
  staging: string,
): Promise<string> {
  if (!existsSync(file)) throw new UserError("file_unreadable", `${file} does not exist`);
  if (!isEncrypted(file)) return file;
  if (password === undefined)
    throw new UserError("usage", `${file} is encrypted`, {
      hint: "Name the variable with its password: `--password-env BACKUP_PASSWORD`.",
    });
  const archive = join(staging, "archive.tar.gz");
  await decryptFile(file, archive, password);
  return archive;
}

function readManifest(staging: string): BackupManifest {
  const file = join(staging, archiveLayout.manifest);
  const found = existsSync(file)
    ? manifestSchema.safeParse(JSON.parse(readFileSync(file, "utf8")))
    : undefined;
  if (found?.success && existsSync(join(staging, databaseName))) return found.data;
  throw new UserError("usage", "the file is not a backup of herdctl");
}

/** Runners of the old fleet are not those of the new one, even on the same machine. */
function movePaths(
  database: string,
  { from, dir, configDir }: { from: BackupManifest; dir: string; configDir: string },
): void {
  const connection = openSqlite(database);
  try {
    const move = (table: string, field: string) =>
      connection
        .prepare(
          `UPDATE ${table} SET record = json_set(record, '$.${field}', ? || substr(record ->> '$.${field}', ?))
           WHERE record ->> '$.${field}' = ? OR substr(record ->> '$.${field}', 1, ?) = ?`,
        )
        .run(dir, from.dir.length + 1, from.dir, from.dir.length + 1, `${from.dir}/`);
    move("jobs", "output_file");
    move("sessions", "cwd");
    connection
      .prepare(
        `UPDATE sessions SET record = json_set(record, '$.config_dir', ?) WHERE record ->> '$.config_dir' = ?`,
      )
      .run(configDir, from.config_dir);
    connection.exec("UPDATE jobs SET record = json_set(record, '$.runner', NULL)");
    connection.exec("DELETE FROM session_leases");
  } finally {
    connection.close();
  }
}

async function placeTranscripts(
  stateDir: string,
  staging: string,
  configDir: string,
): Promise<void> {
  const state = await new StateManager(stateDir).open({ readOnly: true });
  try {
    for (const { session_id, session_home: place, cwd, config_dir } of await state.sessions.list(
      {},
    )) {
      const copy = join(staging, archiveLayout.transcripts, `${session_id}.jsonl`);
      if (!existsSync(copy)) continue;
      mkdirSync(cwd, { recursive: true });
      const target = sessionFilePath(
        { place, configDir: config_dir ?? configDir, cwd },
        session_id,
      );
      cpSync(copy, target, { force: false });
    }
  } finally {
    await state.close();
  }
}
