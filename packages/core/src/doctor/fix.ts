import { chmodSync, lstatSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { acquireLock } from "../state/lock.ts";

/** What is safe to mend without asking. */
export type Fix =
  | { kind: "chmod"; path: string; mode: number }
  | { kind: "remove_stale"; stateDir: string };

/** Does it, and says what was done; undefined when it could not be done. */
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

/** Under the lock, so that nothing of a fleet is taken that starts just now. */
function removeStale(stateDir: string): string {
  const lock = acquireLock(stateDir);
  try {
    const names = staleNames(stateDir);
    for (const name of names) rmSync(join(stateDir, name), { recursive: true, force: true });
    return `Removed from ${stateDir}: ${["herdctl.lock.json", ...names].join(", ")}.`;
  } finally {
    lock.release();
  }
}

const longestSelfTest = 3_600_000;

/** What a fleet or a doctor leaves that was killed, besides what the next fleet settles. */
export function staleNames(stateDir: string): string[] {
  return readdirSync(stateDir).filter((name) => {
    if (name === "herdctl.sock") return true;
    if (!name.startsWith("self-test-")) return false;
    const { mtimeMs } = lstatSync(join(stateDir, name));
    return Date.now() - mtimeMs > longestSelfTest;
  });
}
