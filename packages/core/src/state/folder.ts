import { mkdirSync } from "node:fs";
import { assertOwned } from "./ownership.ts";
import { orUnavailable } from "./unavailable.ts";

/** For this user's eyes only, if it has to be made. */
export function ensureFolder(folder: string): string {
  orUnavailable(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  return folder;
}

/** Somebody else may have made it before us, in a folder that others may write to. */
export function ensureStateDir(stateDir: string): string {
  ensureFolder(stateDir);
  assertOwned([stateDir]);
  return stateDir;
}
