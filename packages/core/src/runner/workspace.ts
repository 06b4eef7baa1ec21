import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import type { WorkingDirectory } from "../config/resolve.ts";
import { cloneInto } from "./workspace-clone.ts";

export type PreparedWorkspace =
  | { kind: "ready"; path: string }
  | { kind: "problem"; message: string; hint: string };

/** The folder an agent works in, there and usable; a clone of its own is made when it is absent. */
export async function prepareWorkspace(
  { path, clone }: WorkingDirectory,
  signal: AbortSignal,
): Promise<PreparedWorkspace> {
  if (clone) {
    const cloned = await cloneInto(path, clone, signal);
    if (cloned.kind === "problem") return cloned;
  }
  const why = await unusable(path);
  if (why === undefined) return { kind: "ready", path };
  return {
    kind: "problem",
    message: `The working directory ${path} ${why}.`,
    hint: "Check `working_directory`; it is relative to the file it is written in.",
  };
}

async function unusable(path: string): Promise<string | undefined> {
  try {
    if (!(await stat(path)).isDirectory()) return "is not a folder";
    await access(path, constants.R_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    return code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
  }
}
