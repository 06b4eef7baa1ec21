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
import { z } from "zod";
import { fingerprint } from "./labels.ts";
import { entryAt } from "./workspace-facts.ts";
import type { Placeholder } from "./workspace-guard.ts";

const madeSchema = z.object({
  workspace: z.string(),
  path: z.string(),
  content: z.string().optional(),
});
type Made = z.infer<typeof madeSchema>;

/**
 * Puts placeholders into a workspace so that there is something to mount on. Each is on record
 * before it is made, so that a later run or fleet can take it away again.
 */
export function makeMountpoints(
  stateDir: string,
  workspace: string,
  placeholders: readonly Placeholder[],
): void {
  for (const placeholder of placeholders) {
    writeRecord(stateDir, { workspace, ...placeholder });
    makeOne(workspace, placeholder);
  }
}

/** Takes away what was made and is as it was made, in workspaces that no container uses. */
export function removeMountpoints(
  stateDir: string,
  isUsed: (workspaceFingerprint: string) => boolean,
): void {
  for (const { file, made } of records(stateDir)) {
    if (isUsed(fingerprint(made.workspace))) continue;
    removeOne(made);
    rmSync(file, { force: true });
  }
}

/** Whether any are on record at all: seldom, so that nobody need be asked. */
export function hasMountpoints(stateDir: string): boolean {
  return listRecords(stateDir).length > 0;
}

/** What identifies the mountpoints: another run's end must not have taken them away meanwhile. */
export function inodesOf(paths: readonly string[]): string {
  return paths.map((path) => entryAt(path)?.ino ?? "gone").join();
}

function makeOne(workspace: string, { path, content }: Placeholder): void {
  try {
    if (content === undefined) mkdirSync(path, { mode: 0o755 });
    else writeFileSync(path, content, { flag: "wx", mode: 0o644 });
    if (process.getuid?.() !== 0) return;
    const { uid, gid } = statSync(workspace);
    lchownSync(path, uid, gid);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** Somebody may have put something there meanwhile; then it is theirs. */
function removeOne({ path, content }: Made): void {
  try {
    if (content === undefined) rmdirSync(path);
    else if (lstatSync(path).isFile() && readFileSync(path, "utf8") === content) unlinkSync(path);
  } catch {
    // Gone, or no longer empty.
  }
}

function writeRecord(stateDir: string, made: Made): void {
  const folder = recordsDir(stateDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const name = `${fingerprint(made.workspace)}-${fingerprint(made.path)}.json`;
  writeFileSync(join(folder, name), JSON.stringify(made), { mode: 0o600 });
}

function records(stateDir: string): { file: string; made: Made }[] {
  return listRecords(stateDir).flatMap((name) => {
    const file = join(recordsDir(stateDir), name);
    try {
      return [{ file, made: madeSchema.parse(JSON.parse(readFileSync(file, "utf8"))) }];
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
