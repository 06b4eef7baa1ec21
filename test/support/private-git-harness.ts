import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { gitLayout, readRecord } from "../../packages/core/src/private-git/git-record.ts";
import { openPrivateGit } from "../../packages/core/src/private-git/private-git-lifecycle.ts";
import { inspectWorkspaceGit } from "../../packages/core/src/private-git/workspace-git.ts";
import { privateGitFolder } from "../../packages/core/src/runner/contract/paths.ts";
import { createHostRepository, type HostRepository } from "./host-repository.ts";
import { tempFolderWith } from "./temp-folder.ts";

export interface PrivateGitHarness {
  host: HostRepository;
  workspace: string;
  stateDir: string;
  /** Folder of the open run. */
  folder: string;
  /** Runs git as the agent does in its container. */
  gitAsAgent(...args: string[]): string;
  /** Makes a commit as the agent, and returns its id. */
  commitAsAgent(subject: string): string;
  /** Opens another run's private directory, by default of the same agent on the same machine. */
  openRun(
    runToken: string,
    at?: { stateDir?: string; workspace?: string },
  ): Promise<PrivateGitHarness>;
}

export interface PrivateGitOptions {
  runToken?: string;
  commitBranch?: string;
}

/** A repository of the operator and the view of a container on it, without a container. */
export async function startPrivateGitHarness({
  runToken = "job-1.1",
  commitBranch,
}: PrivateGitOptions = {}): Promise<PrivateGitHarness> {
  const root = tempFolderWith({});
  const workspace = join(root, "workspace");
  mkdirSync(workspace);
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  const host = createHostRepository(env, workspace);
  return await openHarness(host, join(root, "state"), runToken, commitBranch ?? null);
}

async function openHarness(
  host: HostRepository,
  stateDir: string,
  runToken: string,
  commitBranch: string | null,
): Promise<PrivateGitHarness> {
  const { workspace } = host;
  const gitInput = { workspace, agent: "one", stateDir, skip: [] };
  const folder = privateGitFolder(stateDir, runToken);
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const git = await inspectWorkspaceGit(gitInput);
  await openPrivateGit(folder, git, { ...gitInput, user, commitBranch });
  const agent = (...args: string[]) => runGitAsAgent(host, folder, args);
  return {
    host,
    workspace,
    stateDir,
    folder,
    gitAsAgent: agent,
    commitAsAgent: (subject) => {
      agent("commit", "-q", "--allow-empty", "-m", subject);
      return agent("rev-parse", "HEAD");
    },
    openRun: (token, at = {}) => {
      const there = at.workspace ? { ...host, workspace: at.workspace } : host;
      return openHarness(there, at.stateDir ?? stateDir, token, commitBranch);
    },
  };
}

function runGitAsAgent(
  { workspace, env }: HostRepository,
  folder: string,
  args: readonly string[],
): string {
  const objects = readRecord(folder)?.repository?.objects ?? [];
  return execFileSync("git", args, {
    cwd: workspace,
    env: {
      ...env,
      GIT_DIR: gitLayout(folder).privateDir,
      GIT_WORK_TREE: workspace,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: objects.join(":"),
      ...identity,
    },
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

const identity = {
  GIT_AUTHOR_NAME: "agent",
  GIT_AUTHOR_EMAIL: "agent@example.org",
  GIT_COMMITTER_NAME: "agent",
  GIT_COMMITTER_EMAIL: "agent@example.org",
};

/** The names of the run folders in a state folder. */
export function listRunFolders(stateDir: string, kind: "runs" | "kept" = "runs"): string[] {
  const folder = join(stateDir, "docker-git", kind);
  return existsSync(folder) ? readdirSync(folder) : [];
}
