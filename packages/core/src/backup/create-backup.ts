import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { LoadedFleet } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import { configDirOf } from "../claude/credential.ts";
import { sessionFilePath } from "../claude/session-files/session-file-path.ts";
import { openSqlite } from "../store/sqlite/driver.ts";
import { openForReading } from "../store/sqlite/open.ts";
import { StateManager } from "../store/state-manager.ts";
import { encryptFile } from "./encryption.ts";
import { recordLastBackup } from "./last-backup.ts";
import { archiveLayout, type BackupManifest, databaseName, stateFolders } from "./manifest.ts";
import { runTar } from "./tar.ts";

export interface BackupResult {
  file: string;
  jobs: number;
  sessions: number;
}

/**
 * Writes the state of a fleet to one file, while the fleet may be running. The database comes first:
 * everything that it refers to is then copied, and newer files are settled like after a crash.
 */
export async function createBackup(
  { fleet, environment, files }: LoadedFleet,
  target: { file: string; password?: string },
): Promise<BackupResult> {
  const { stateDir, dir } = fleet;
  if (fleet.store !== undefined) throw sharedStoreError();
  if (existsSync(target.file)) throw new UserError("file_exists", `${target.file} already exists`);
  const staging = mkdtempSync(join(dirname(target.file), ".herdctl-backup-"));
  try {
    snapshotDatabase(join(stateDir, databaseName), join(staging, databaseName));
    const config_dir = configDirOf(environment);
    const facts = await copyTranscripts(stateDir, staging, config_dir);
    for (const file of files) {
      const path = relative(dir, file);
      if (path.startsWith("..") || path === ".env" || !existsSync(file)) continue;
      cpSync(file, join(staging, archiveLayout.configuration, path));
    }
    const manifest: BackupManifest = {
      ...{ version: 1, created_at: new Date().toISOString(), fleet: fleet.fleet.name },
      ...{ dir, config_dir, ...facts },
    };
    writeFileSync(join(staging, archiveLayout.manifest), JSON.stringify(manifest, null, 2));
    const archive = join(staging, "archive.tar.gz");
    const folders = stateFolders.filter((name) => existsSync(join(stateDir, name)));
    await runTar(
      ["-czf", archive, "--exclude=archive.tar.gz", "--exclude=private", "--exclude=*.sock"],
      [
        { folder: staging, names: ["."] },
        { folder: stateDir, names: folders },
      ],
    );
    if (target.password === undefined) cpSync(archive, target.file);
    else await encryptFile(archive, target.file, target.password);
    const encrypted = target.password !== undefined;
    await recordLastBackup(stateDir, {
      file: target.file,
      created_at: manifest.created_at,
      encrypted,
    });
    return { file: target.file, ...facts };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** A consistent copy, including what is still in the journal. */
function snapshotDatabase(file: string, copy: string): void {
  openForReading(file).close();
  if (!existsSync(file)) return;
  const connection = openSqlite(file, { readOnly: true });
  try {
    connection.prepare("VACUUM INTO ?").run(copy);
  } finally {
    connection.close();
  }
}

/** Transcripts of sessions on the host; those of containers are in the state folder. */
async function copyTranscripts(stateDir: string, staging: string, configDir: string) {
  const state = await new StateManager(stateDir).open({ readOnly: true });
  try {
    const sessions = await state.sessions.list({});
    for (const { session_id, session_home: place, cwd, config_dir } of sessions) {
      if (place === "docker" || !existsSync(cwd)) continue;
      const home = { place, configDir: config_dir ?? configDir, cwd };
      const transcript = sessionFilePath(home, session_id);
      if (!existsSync(transcript)) continue;
      const folder = join(staging, archiveLayout.transcripts);
      mkdirSync(folder, { recursive: true });
      cpSync(transcript, join(folder, `${session_id}.jsonl`));
    }
    const { jobs } = await state.jobs.list({ limit: 1000 });
    return { sessions: sessions.length, jobs: jobs.length };
  } finally {
    await state.close();
  }
}

function sharedStoreError(): UserError {
  return new UserError("usage", "this fleet keeps its state in PostgreSQL", {
    hint: "Back up the database with `pg_dump`, and `.herdctl` with a tool for files.",
  });
}
