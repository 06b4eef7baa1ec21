import { mkdirSync } from "node:fs";
import { orUnavailable } from "./unavailable.ts";

/** For this user's eyes only, if it has to be made. */
export function ensureFolder(folder: string): string {
  orUnavailable(folder, () => mkdirSync(folder, { recursive: true, mode: 0o700 }));
  return folder;
}
