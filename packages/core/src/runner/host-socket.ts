import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureJobDir } from "../state/job-dir.ts";
import { makeSocketPath, removeSocket } from "./socket-path.ts";

export const apiSocketName = "api.sock";

/**
 * Where the gateway of a run on the host listens: a socket in a folder that only this user can open.
 * A TCP port would be free for every user of the machine after a crash, and an orphaned `claude`
 * would send the conversation to whoever takes it, and obey the answers.
 */
export function makeHostSocket(folder: string): string {
  ensureJobDir(dirname(folder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return makeSocketPath(join(folder, apiSocketName));
}

/** Also removes what a run left that was killed. */
export function removeHostSocket(folder: string): void {
  removeSocket(join(folder, apiSocketName));
  rmSync(folder, { recursive: true, force: true });
}
