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
  /** What `.git/config` says, when there is one. */
  gitConfig: string;
  /** A folder above it is a repository. */
  belowRepository: boolean;
  /** Files of the operator that lie in it: what binds the agent, and what holds secrets. */
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
  warnings: string[];
}

/**
 * In a workspace that an agent may write, what the host would later execute stays as it is: a
 * mount cannot be written, moved or replaced from within. What lies on the way to it is a mount of
 * its own too, because a folder could be moved aside with all that is mounted below it.
 */
export function guardWorkspace(facts: WorkspaceFacts): WorkspaceGuard {
  const readOnly = facts.mode === "ro";
  const guard: WorkspaceGuard = {
    mounts: [{ source: facts.path, target: inside.workspace, readOnly }],
    placeholders: [],
    warnings: [],
  };
  for (const path of facts.secret) hide(guard, facts, path);
  if (readOnly) return guard;
  for (const path of facts.binding) protect(guard, facts, path);
  guardGit(guard, facts);
  protect(guard, facts, join(facts.path, ".claude"), {});
  protect(guard, facts, join(facts.path, ".mcp.json"), { content: noServers });
  return guard;
}

/** What stands where no servers are named. */
export const noServers = '{ "mcpServers": {} }\n';
/** A file of this name redirects all that git reads; this content says "here", as without it. */
const commonDir = { content: ".\n" };

function guardGit(guard: WorkspaceGuard, facts: WorkspaceFacts): void {
  const git = join(facts.path, ".git");
  const kind = facts.kindOf(git);
  if (kind === "absent") {
    // A folder without any repository is the agent's to make one in.
    if (facts.belowRepository) protect(guard, facts, git, {});
    return;
  }
  if (kind !== "folder") {
    protect(guard, facts, git);
    guard.warnings.push(
      "git does not work in the container: `.git` of the workspace leads to a repository outside of it",
    );
    return;
  }
  protect(guard, facts, join(git, "config"), { content: "" });
  protect(guard, facts, join(git, "hooks"), {});
  protect(guard, facts, join(git, "commondir"), commonDir);
  const wantsWorktreeConfig = /^\s*worktreeconfig\s*=\s*(true|yes|on|1)/im.test(facts.gitConfig);
  protect(
    guard,
    facts,
    join(git, "config.worktree"),
    wantsWorktreeConfig ? { content: "" } : undefined,
  );
  for (const name of ["modules", "worktrees"]) protect(guard, facts, join(git, name));
  for (const path of executedFromConfig(facts, git)) protect(guard, facts, path);
}

/** Hooks and further configuration that lie in the workspace itself. */
function executedFromConfig({ path, gitConfig }: WorkspaceFacts, git: string): string[] {
  return gitConfig.split("\n").flatMap((line) => {
    const found = /^\s*(hookspath|path)\s*=\s*"?([^"]+?)"?\s*$/i.exec(line);
    const [, key = "", value = ""] = found ?? [];
    if (!found || value.startsWith("~")) return [];
    return [join(key.toLowerCase() === "path" ? git : path, value)];
  });
}

/** Makes it read-only where it is; where it is not, in the form of a placeholder if one is given. */
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
  if (kind === "absent") guard.placeholders.push({ path, ...ifAbsent });
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
