import { dirname, join, relative, sep } from "node:path";
import { UserError } from "@herdctl/protocol";
import { containerPaths } from "../lib/container-layout.ts";
import type { Mount } from "./mounts.ts";

export type EntryKind = "folder" | "file" | "link" | "other" | "absent";

/** Facts about a workspace that decide which parts its container may change. */
export interface WorkspaceFacts {
  path: string;
  mode: "rw" | "ro";
  kindOf(path: string): EntryKind;
  /** The mounts that replace `.git` in the container. */
  git: readonly Mount[];
  /** Files that the operator's git would execute or read as configuration. */
  namedByGit: readonly { path: string; kind: "file" | "folder" }[];
  /** The operator's configuration files, which restrict the agent. */
  configFiles: readonly string[];
  /** The operator's files and folders with secrets. */
  secretFiles: readonly string[];
  /** Mounted over hidden files and folders. */
  empty: { folder: string; file: string };
}

/** An empty file or folder that serves as a mount point and is removed after the run. */
export interface Placeholder {
  path: string;
  /** Undefined for a folder. */
  content?: string;
}

export interface WorkspaceGuard {
  mounts: Mount[];
  placeholders: Placeholder[];
}

/**
 * Decides the mounts of a workspace. Files that the host would later execute are mounted read-only,
 * and `.git` is replaced by a private directory. Each parent folder of such a mount is a separate
 * mount, because a folder could otherwise be moved away with everything mounted below it.
 */
export function guardWorkspace(facts: WorkspaceFacts): WorkspaceGuard {
  const readOnly = facts.mode === "ro";
  const guard: WorkspaceGuard = {
    mounts: [{ source: facts.path, target: containerPaths.workspace, readOnly }],
    placeholders: [],
  };
  for (const path of facts.secretFiles) hidePath(guard, facts, path);
  if (readOnly) return guard;
  for (const path of facts.configFiles) protectPath(guard, facts, path);
  replaceGit(guard, facts);
  for (const { path, kind } of facts.namedByGit) {
    // defence: git-named-files-read-only
    protectPath(guard, facts, path, kind === "file" ? { content: "" } : {});
  }
  // defence: claude-settings-read-only
  protectPath(guard, facts, join(facts.path, ".claude"), {});
  // defence: mcp-json-read-only
  protectPath(guard, facts, join(facts.path, ".mcp.json"), { content: emptyMcpConfig });
  makeNestedReadOnly(guard, facts);
  return guard;
}

/** Content of the placeholder for a missing `.mcp.json`. */
export const emptyMcpConfig = '{ "mcpServers": {} }\n';

function replaceGit(guard: WorkspaceGuard, facts: WorkspaceFacts): void {
  const path = join(facts.path, ".git");
  const kind = facts.kindOf(path);
  if (kind === "link" || kind === "other") throw linkError(path);
  if (kind === "absent") guard.placeholders.push({ path });
  for (const mount of facts.git) addMount(guard, mount);
}

/** Makes mounts of the workspace below a read-only folder read-only as well. */
function makeNestedReadOnly(guard: WorkspaceGuard, { path }: WorkspaceFacts): void {
  const readOnlyPrefixes = guard.mounts
    .filter(({ readOnly }) => readOnly)
    .map(({ target }) => `${target}/`);
  for (const mount of guard.mounts) {
    const isOwn = mount.source.startsWith(path + sep);
    if (isOwn && readOnlyPrefixes.some((folder) => mount.target.startsWith(folder)))
      mount.readOnly = true;
  }
}

/**
 * Makes a path read-only. If it is missing, a placeholder is mounted if one is given. If its parent
 * folder is missing as well, the folder becomes the placeholder, so that nothing can be created in it.
 */
function protectPath(
  guard: WorkspaceGuard,
  facts: WorkspaceFacts,
  path: string,
  ifAbsent?: Omit<Placeholder, "path">,
): void {
  const inner = innerPath(facts, path);
  const kind = facts.kindOf(path);
  if (inner === undefined || (kind === "absent" && !ifAbsent)) return;
  if (/* defence: guarded-path-link */ kind === "link" || kind === "other") throw linkError(path);
  if (kind === "absent" && facts.kindOf(dirname(path)) === "absent") {
    protectPath(guard, facts, dirname(path), {});
    return;
  }
  if (kind === "absent" && !guard.placeholders.some((placeholder) => placeholder.path === path)) {
    guard.placeholders.push({ path, ...ifAbsent });
  }
  // defence: parent-folders-pinned
  pinFolder(guard, facts, dirname(path));
  addMount(guard, { source: path, target: join(containerPaths.workspace, inner), readOnly: true });
}

function hidePath(guard: WorkspaceGuard, facts: WorkspaceFacts, path: string): void {
  const inner = innerPath(facts, path);
  const kind = facts.kindOf(path);
  if (inner === undefined || kind === "absent") return;
  if (kind !== "folder" && kind !== "file") throw linkError(path);
  if (facts.mode === "rw") pinFolder(guard, facts, dirname(path));
  addMount(guard, {
    source: facts.empty[kind],
    target: join(containerPaths.workspace, inner),
    readOnly: true,
  });
}

function pinFolder(guard: WorkspaceGuard, facts: WorkspaceFacts, folder: string): void {
  const inner = innerPath(facts, folder);
  if (inner === undefined) return;
  if (facts.kindOf(folder) !== "folder") throw linkError(folder);
  pinFolder(guard, facts, dirname(folder));
  addMount(guard, {
    source: folder,
    target: join(containerPaths.workspace, inner),
    readOnly: false,
  });
}

/** A mount that is already read-only stays read-only. */
function addMount(guard: WorkspaceGuard, mount: Mount): void {
  const known = guard.mounts.find(({ target }) => target === mount.target);
  if (known === undefined) guard.mounts.push(mount);
  else known.readOnly ||= mount.readOnly;
}

/** Undefined for the workspace itself and for paths outside it. */
function innerPath({ path: workspace }: WorkspaceFacts, path: string): string | undefined {
  const inner = relative(workspace, path);
  return inner === "" || inner === ".." || inner.startsWith(`..${sep}`) ? undefined : inner;
}

function linkError(path: string): UserError {
  return new UserError(
    "workspace_unusable",
    `${path} is a symbolic link, so the container could change where it points.`,
    {
      hint: "Replace it with a real file or folder, use `workspace_mode: ro`, or give the agent a separate clone.",
    },
  );
}
