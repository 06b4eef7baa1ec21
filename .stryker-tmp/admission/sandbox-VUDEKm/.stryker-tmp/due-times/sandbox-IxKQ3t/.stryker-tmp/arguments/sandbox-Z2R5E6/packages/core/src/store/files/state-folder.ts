import { mkdirSync } from "node:fs";
import { assertOwnership, UserError } from "@herdctl/protocol";

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
