import { closeSync, existsSync, lstatSync, mkdirSync, openSync, type Stats } from "node:fs";
import { dirname, join } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import { hasErrorCode } from "@herdctl/protocol";
import type { EntryKind, WorkspaceFacts } from "./workspace-guard.ts";

/** Inspects a workspace; `path` is its real path. */
export function readWorkspaceFacts(
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
    empty: ensureEmptyEntries(stateDir),
  };
}

/** Files of the operator that may be in a workspace. The state directory counts as secret. */
export function operatorFiles(
  agent: Pick<ResolvedAgent, "file" | "fleet_dir">,
  stateDir: string,
): { configFiles: string[]; secretFiles: string[] } {
  const parentDir = dirname(stateDir);
  return {
    configFiles: [agent.file, join(agent.fleet_dir, "herdctl.yaml")],
    secretFiles: [...new Set([stateDir, join(parentDir, ".env"), join(agent.fleet_dir, ".env")])],
  };
}

export function kindOf(path: string): EntryKind {
  const entry = lstatIfExists(path);
  if (entry === undefined) return "absent";
  if (entry.isSymbolicLink()) return "link";
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : "other";
}

/** Undefined if the entry is missing, or if a parent is a file. */
export function lstatIfExists(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT", "ENOTDIR")) return undefined;
    throw error;
  }
}

export function ensureEmptyEntries(stateDir: string): WorkspaceFacts["empty"] {
  const folder = join(stateDir, "empty/folder");
  const file = join(stateDir, "empty/file");
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o644));
  return { folder, file };
}
