import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a job's folder in a state that is there: one that somebody removed must not come back. */
export function ensureJobDir(jobDir: string): void {
  if (existsSync(jobDir)) return;
  for (const folder of [dirname(jobDir), jobDir]) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!isThere(error)) throw error;
    }
  }
}

function isThere(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}
