import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquireLock } from "../store/sqlite/state-lock.ts";

/** A change that is safe to make without confirmation. */
export type Fix =
  | { kind: "chmod"; path: string; mode: number }
  | { kind: "remove_stale"; stateDir: string };

/** Applies the fix and returns a description; undefined if it failed. */
export function applyFix(fix: Fix): string | undefined {
  try {
    return fix.kind === "chmod" ? chmod(fix) : removeStale(fix.stateDir);
  } catch {
    return undefined;
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
