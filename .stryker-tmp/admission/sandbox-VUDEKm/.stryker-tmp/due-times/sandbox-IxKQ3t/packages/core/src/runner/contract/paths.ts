import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeSocketPath, removeSocket } from "../../lib/socket-path.ts";
import { ensureJobDir } from "../../store/files/job-folder.ts";

export function runnerSocketPath(jobDir: string): string {
  return join(jobDir, "runner.sock");
}

/** Command-line flags that make a runner preload libraries that are slow to import. */
export const preloadFlags = { sdk: "--sdk", docker: "--docker" } as const;

export type PreloadLibraries = Record<keyof typeof preloadFlags, boolean>;

/** The built runner program, also when this code runs from source. */
export function runnerProgramPath(): string {
  const here = import.meta.url;
  const builtPath = here.endsWith(".ts")
    ? "../../../dist/runner/process/main.mjs"
    : "./runner/process/main.mjs";
  return fileURLToPath(new URL(builtPath, here));
}

export const apiSocketName = "api.sock";

/**
 * Where the gateway of a run on the host listens: a socket in a folder that only this user can open.
 * With a TCP port, any user of the machine could take the port after a crash, receive the
 * conversation of an orphaned `claude` and control it through the answers.
 */
export function makeHostSocket(folder: string): string {
  ensureJobDir(dirname(folder));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return makeSocketPath(join(folder, apiSocketName));
}

/** Also removes the socket of a run that was killed. */
export function removeHostSocket(folder: string): void {
  removeSocket(join(folder, apiSocketName));
  rmSync(folder, { recursive: true, force: true });
}
