import type { Block } from "./block.ts";

/** What an agent's repository takes from `defaults` and from the fleet. */
export interface WorkspaceDefaults {
  root?: string;
  branch?: string;
  depth?: number;
}

/** `workspace`, `repo` and `working_directory` of an agent. */
export function translateWorkspace(agent: Block, defaults: WorkspaceDefaults): void {
  if (agent.has("working_directory"))
    agent.drop("ignored", "workspace", "`working_directory` takes its place");
  agent.rename("workspace", "working_directory");
  const repo = agent.text("repo");
  const block = agent.block("working_directory");
  if (block?.has("repo") || (repo === undefined && !block?.has("root"))) return;
  const own = workspaceOf(block);
  const path = agent.text("working_directory");
  if (repo === undefined) {
    if (!agent.isImport) return;
    agent.report("renamed", "working_directory", "without a repository, the folder is enough here");
    agent.set("working_directory", own.root);
    return;
  }
  if (path !== undefined) {
    agent.drop(
      "decision",
      "repo",
      "a working directory is a folder or a clone of a repository; the folder is used",
    );
    return;
  }
  if (block?.value("auto_clone") === false)
    agent.report(
      "decision",
      "repo",
      "the repository is cloned at the first job; name its folder instead if you clone it yourself",
    );
  const clone = {
    repo: repositoryUrl(repo),
    ...withDefined("root", own.root ?? defaults.root),
    ...withDefined("branch", own.branch ?? defaults.branch),
    ...withDefined("clone_depth", own.depth ?? defaults.depth),
  };
  agent.report("renamed", "repo", "`repo` is part of `working_directory` here");
  if (agent.has("working_directory")) {
    agent.set("working_directory", clone);
    agent.remove("repo");
  } else {
    agent.rename("repo", "working_directory", clone);
  }
}

/** The `working_directory` block of an agent or of `defaults`. */
export function workspaceOf(block: Block | undefined): WorkspaceDefaults {
  return {
    root: block?.text("root"),
    branch: block?.text("default_branch") ?? block?.text("branch"),
    depth: block?.number("clone_depth"),
  };
}

function repositoryUrl(repo: string): string {
  return /^[\w.-]+\/[\w.-]+$/.test(repo) ? `https://github.com/${repo}.git` : repo;
}

function withDefined(key: string, value: unknown): object {
  return value === undefined ? {} : { [key]: value };
}
