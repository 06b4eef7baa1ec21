import { existsSync, mkdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { assertOwnership, hasErrorCode, UserError } from "@herdctl/protocol";
import { writeFileAtomic } from "../../lib/atomic-file.ts";

/**
 * Creates a job's folder inside an existing state folder. A state folder that was removed must not
 * be created again.
 */
export function ensureJobDir(jobDir: string): void {
  if (existsSync(jobDir)) return;
  for (const folder of [dirname(jobDir), jobDir]) {
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (error) {
      if (!hasErrorCode(error, "EEXIST")) throw error;
    }
  }
}

/** Writes the outcome of a runner: completely, or not at all. */
export async function writeOutcome(jobDir: string, outcome: object): Promise<void> {
  ensureJobDir(jobDir);
  await writeFileAtomic(outcomeFile(jobDir), `${JSON.stringify(outcome)}\n`);
}

type StoredOutcome =
  | { kind: "none" }
  | { kind: "found"; value: unknown }
  | { kind: "damaged"; file: string };

export async function readOutcome(jobDir: string): Promise<StoredOutcome> {
  const file = outcomeFile(jobDir);
  const text = await readIfExists(file);
  if (text === undefined) return { kind: "none" };
  try {
    return { kind: "found", value: JSON.parse(text) };
  } catch {
    return { kind: "damaged", file };
  }
}

function outcomeFile(jobDir: string): string {
  return join(jobDir, "outcome.json");
}

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Creates a folder that only this user can access, if it does not exist. */
export function ensurePrivateDir(folder: string): string {
  withFileErrors(folder, () =>
    mkdirSync(folder, { recursive: true, mode: /* defence: state-folder-mode */ 0o700 }),
  );
  return folder;
}

/** Another user may have created the folder before, if others can write to its parent folder. */
export function ensureStateDir(stateDir: string): string {
  ensurePrivateDir(stateDir);
  assertOwnership([stateDir]);
  return stateDir;
}

/** Turns errors of the file system (no space, no permission, no folder) into a `UserError`. */
export function withFileErrors<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof UserError || !(cause instanceof Error && "syscall" in cause)) throw cause;
    throw new UserError("state_unavailable", `${what} cannot be used: ${cause.message}`, { cause });
  }
}
