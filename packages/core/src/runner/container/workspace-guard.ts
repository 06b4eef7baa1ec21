import { dirname, join, relative, sep } from "node:path";
import { UserError } from "../../errors/user-error.ts";
import { inside } from "./layout.ts";
import type { Mount } from "./mounts.ts";

export type EntryKind = "folder" | "file" | "link" | "other" | "absent";

/** What must be known of a workspace to decide what its container may not touch. */
export interface WorkspaceFacts {
  path: string;
  mode: "rw" | "ro";
  kindOf(path: string): EntryKind;
  /** What the container gets in place of `.git`, and the mounts that belong to it. */
  git: readonly Mount[];
  /** What the operator's git would execute or read as configuration. */
  namedByGit: readonly { path: string; kind: "file" | "folder" }[];
  /** Files of the operator in the workspace: those that bind the agent, and those that hold secrets. */
  binding: readonly string[];
  secret: readonly string[];
  /** Stand in for what is hidden. */
  empty: { folder: string; file: string };
}

/** Something that must be there to be mounted on, and goes again after the run. */
export interface Placeholder {
  path: string;
  /** Undefined makes a folder. */
  content?: string;
}

export interface WorkspaceGuard {
  mounts: Mount[];
  placeholders: Placeholder[];
}

/**
 * Decides the mounts of a workspace. What the host would later execute is mounted read-only, and
 * `.git` is another directory than the host's. Each folder on the way to such a mount is a mount
 * of its own, because a folder could be moved aside with everything that is mounted below it.
 */
export function guardWorkspace(facts: WorkspaceFacts): WorkspaceGuard {
  const readOnly = facts.mode === "ro";
  const guard: WorkspaceGuard = {
    mounts: [{ source: facts.path, target: inside.workspace, readOnly }],
    placeholders: [],
  };
  for (const path of facts.secret) hide(guard, facts, path);
  if (readOnly) return guard;
  for (const path of facts.binding) protect(guard, facts, path);
  replaceGit(guard, facts);
  for (const { path, kind } of facts.namedByGit) {
    protect(guard, facts, path, kind === "file" ? { content: "" } : {});
  }
  protect(guard, facts, join(facts.path, ".claude"), {});
  protect(guard, facts, join(facts.path, ".mcp.json"), { content: noServers });
  closeBelow(guard, facts);
  return guard;
}

/** What stands where no servers are named. */
export const noServers = '{ "mcpServers": {} }\n';

function replaceGit(guard: WorkspaceGuard, facts: WorkspaceFacts): void {
  const path = join(facts.path, ".git");
  const kind = facts.kindOf(path);
  if (kind === "link" || kind === "other") throw redirected(path);
  if (kind === "absent") guard.placeholders.push({ path });
  for (const mount of facts.git) add(guard, mount);
}

/** Below a folder that is read-only no mount of the workspace's own is writable. */
function closeBelow(guard: WorkspaceGuard, { path }: WorkspaceFacts): void {
  const closed = guard.mounts.filter(({ readOnly }) => readOnly).map(({ target }) => `${target}/`);
  for (const mount of guard.mounts) {
    const isOwn = mount.source.startsWith(path + sep);
    if (isOwn && closed.some((folder) => mount.target.startsWith(folder))) mount.readOnly = true;
  }
}

/**
 * Makes it read-only where it is; where it is not, in the form of a placeholder if one is given.
 * Where even its folder is missing, that folder is the placeholder, and nothing can be made in it.
 */
function protect(
  guard: WorkspaceGuard,
  facts: WorkspaceFacts,
  path: string,
  ifAbsent?: Omit<Placeholder, "path">,
): void {
  const inner = innerPath(facts, path);
  const kind = facts.kindOf(path);
  if (inner === undefined || (kind === "absent" && !ifAbsent)) return;
  if (kind === "link" || kind === "other") throw redirected(path);
  if (kind === "absent" && facts.kindOf(dirname(path)) === "absent") {
    protect(guard, facts, dirname(path), {});
    return;
  }
  if (kind === "absent" && !guard.placeholders.some((one) => one.path === path)) {
    guard.placeholders.push({ path, ...ifAbsent });
  }
  pin(guard, facts, dirname(path));
  add(guard, { source: path, target: join(inside.workspace, inner), readOnly: true });
}

function hide(guard: WorkspaceGuard, facts: WorkspaceFacts, path: string): void {
  const inner = innerPath(facts, path);
  const kind = facts.kindOf(path);
  if (inner === undefined || kind === "absent") return;
  if (kind !== "folder" && kind !== "file") throw redirected(path);
  if (facts.mode === "rw") pin(guard, facts, dirname(path));
  add(guard, { source: facts.empty[kind], target: join(inside.workspace, inner), readOnly: true });
}

function pin(guard: WorkspaceGuard, facts: WorkspaceFacts, folder: string): void {
  const inner = innerPath(facts, folder);
  if (inner === undefined) return;
  if (facts.kindOf(folder) !== "folder") throw redirected(folder);
  pin(guard, facts, dirname(folder));
  add(guard, { source: folder, target: join(inside.workspace, inner), readOnly: false });
}

/** What is read-only already stays so. */
function add(guard: WorkspaceGuard, mount: Mount): void {
  const known = guard.mounts.find(({ target }) => target === mount.target);
  if (known === undefined) guard.mounts.push(mount);
  else known.readOnly ||= mount.readOnly;
}

/** Undefined for the workspace itself and what lies outside. */
function innerPath({ path: workspace }: WorkspaceFacts, path: string): string | undefined {
  const inner = relative(workspace, path);
  return inner === "" || inner === ".." || inner.startsWith(`..${sep}`) ? undefined : inner;
}

function redirected(path: string): UserError {
  return new UserError(
    "workspace_unusable",
    `${path} is a link, so the container could make it lead elsewhere.`,
    {
      hint: "Put a real file or folder there, use `workspace_mode: ro`, or give the agent a clone of its own.",
    },
  );
}
