import { closeSync, existsSync, lstatSync, mkdirSync, openSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { ResolvedAgent } from "../../config/resolve.ts";
import type { EntryKind, WorkspaceFacts } from "./workspace-guard.ts";

/** Looks at a workspace; `path` is its real path. */
export function workspaceFacts(
  path: string,
  mode: "rw" | "ro",
  agent: Pick<ResolvedAgent, "file" | "fleet_dir">,
  stateDir: string,
): Omit<WorkspaceFacts, "git" | "namedByGit"> {
  return {
    path,
    mode,
    kindOf,
    ...operatorFiles(agent, stateDir),
    empty: emptyThings(stateDir),
  };
}

/** Files of the operator that may lie in a workspace: the state folder is among the secrets. */
export function operatorFiles(
  agent: Pick<ResolvedAgent, "file" | "fleet_dir">,
  stateDir: string,
): { binding: string[]; secret: string[] } {
  const above = dirname(stateDir);
  return {
    binding: [agent.file, join(agent.fleet_dir, "herdctl.yaml")],
    secret: [...new Set([stateDir, join(above, ".env"), join(agent.fleet_dir, ".env")])],
  };
}

export function kindOf(path: string): EntryKind {
  const entry = entryAt(path);
  if (entry === undefined) return "absent";
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}

/** Undefined also when something on the way is a file. */
export function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

export function emptyThings(stateDir: string): WorkspaceFacts["empty"] {
  const folder = join(stateDir, "empty/folder");
  const file = join(stateDir, "empty/file");
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o644));
  return { folder, file };
}
