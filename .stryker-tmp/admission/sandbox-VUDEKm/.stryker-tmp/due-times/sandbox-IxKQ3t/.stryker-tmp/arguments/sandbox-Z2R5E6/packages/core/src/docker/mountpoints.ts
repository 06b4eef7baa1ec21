import {
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hasErrorCode } from "@herdctl/protocol";
import { z } from "zod";
import { shortHash } from "./container-labels.ts";
import { lstatIfExists } from "./workspace-facts.ts";
import type { Placeholder } from "./workspace-guard.ts";

const mountpointRecordSchema = z.object({
  workspace: z.string(),
  path: z.string(),
  content: z.string().optional(),
});
type MountpointRecord = z.infer<typeof mountpointRecordSchema>;

/**
 * Creates placeholders in a workspace as mount points. Each is recorded before it is created, so that
 * a later run or fleet process can remove it.
 */
export function makeMountpoints(
  stateDir: string,
  workspace: string,
  placeholders: readonly Placeholder[],
): void {
  for (const placeholder of placeholders) {
    writeRecord(stateDir, { workspace, ...placeholder });
    createPlaceholder(workspace, placeholder);
  }
}

/** Removes unchanged placeholders from workspaces that no container uses. */
export function removeMountpoints(
  stateDir: string,
  isUsed: (workspaceFingerprint: string) => boolean,
): void {
  for (const { file, record } of readRecords(stateDir)) {
    if (isUsed(shortHash(record.workspace))) continue;
    removePlaceholder(record);
    rmSync(file, { force: true });
  }
}

/** Whether any placeholders are recorded; usually not, which avoids a query to the engine. */
export function hasMountpoints(stateDir: string): boolean {
  return listRecords(stateDir).length > 0;
}

/** Inodes of the paths, to detect that another run has removed a mountpoint in the meantime. */
export function inodesOf(paths: readonly string[]): string {
  return paths.map((path) => lstatIfExists(path)?.ino ?? "gone").join();
}

function createPlaceholder(workspace: string, { path, content }: Placeholder): void {
  try {
    if (content === undefined) mkdirSync(path, { mode: 0o755 });
    else writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(workspace);
    lchownSync(path, uid, gid);
  } catch (error) {
    if (!hasErrorCode(error, "EEXIST")) throw error;
  }
}

/** Leaves the entry alone if it has been changed in the meantime. */
function removePlaceholder({ path, content }: MountpointRecord): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === content) unlinkSync(path);
  } catch {
    // Already removed, or no longer empty.
  }
}

function writeRecord(stateDir: string, record: MountpointRecord): void {
  const folder = recordsDir(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${shortHash(record.workspace)}-${shortHash(record.path)}.json`;
  writeFileSync(join(folder, name), JSON.stringify(record), { mode: 0o600 });
}

function readRecords(stateDir: string): { file: string; record: MountpointRecord }[] {
  return listRecords(stateDir).flatMap((name) => {
    const file = join(recordsDir(stateDir), name);
    try {
      return [
        { file, record: mountpointRecordSchema.parse(JSON.parse(readFileSync(file, "utf8"))) },
      ];
    } catch {
      return [];
    }
  });
}

function listRecords(stateDir: string): string[] {
  try {
    return readdirSync(recordsDir(stateDir));
  } catch {
    return [];
  }
}

function recordsDir(stateDir: string): string {
  return join(stateDir, "mountpoints");
}
