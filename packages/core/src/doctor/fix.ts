import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@herdctl/config";
import { restoreBackup } from "../backup/restore-backup.ts";
import { moveDamagedAside } from "../store/sqlite/open.ts";
import { acquireLock } from "../store/sqlite/state-lock.ts";

/** A change that is safe to make without confirmation. */
export type Fix =
  | { kind: "chmod"; path: string; mode: number }
  | { kind: "remove_stale"; stateDir: string }
  /** `dir` is the folder of the fleet file. */
  | { kind: "restore_state"; dir: string; backup: string }
  | { kind: "empty_state"; stateDir: string };

/** Applies the fix and returns a description; undefined if it failed. */
export async function applyFix(fix: Fix, environment: Environment): Promise<string | undefined> {
  try {
    switch (fix.kind) {
      case "chmod":
        return chmod(fix);
      case "remove_stale":
        return removeStale(fix.stateDir);
      case "restore_state":
        return await restoreState(fix, environment);
      case "empty_state":
        return moveStateAside(fix.stateDir);
    }
  } catch {
    return undefined;
  }
}

async function restoreState(
  { dir, backup: file }: Extract<Fix, { kind: "restore_state" }>,
  environment: Environment,
): Promise<string> {
  const { created_at } = await restoreBackup({ file }, { dir, environment, replaceState: true });
  return `Restored the backup of ${created_at}, ${file}. The damaged files are kept in .herdctl.`;
}

function moveStateAside(stateDir: string): string {
  const lock = acquireLock(stateDir);
  try {
    return `Moved the damaged database to ${moveDamagedAside(join(stateDir, "herd.db"), new Date())}. The fleet continues with an empty state.`;
  } finally {
    lock.release();
  }
}

function chmod({ path, mode }: Extract<Fix, { kind: "chmod" }>): string {
  chmodSync(path, mode);
  return `${path} now has the mode ${mode.toString(8)}.`;
}

/** Holds the lock, so that files of a fleet that is just starting are not removed. */
function removeStale(stateDir: string): string {
  const lock = acquireLock(stateDir);
  try {
    const names = findStaleFiles(stateDir);
    for (const name of names) rmSync(join(stateDir, name), { recursive: true, force: true });
    return `Removed from ${stateDir}: ${["herdctl.lock.json", ...names].join(", ")}.`;
  } finally {
    lock.release();
  }
}

const maxSelfTestAgeMs = 3_600_000;

/** Files left by a killed fleet or doctor that the next fleet does not clean up. */
export function findStaleFiles(stateDir: string): string[] {
  return readdirSync(stateDir).filter((name) => {
    if (name === "herdctl.sock") return true;
    if (!name.startsWith("self-test-")) return false;
    const { mtimeMs } = lstatSync(join(stateDir, name));
    return Date.now() - mtimeMs > maxSelfTestAgeMs;
  });
}
