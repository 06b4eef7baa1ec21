import { join } from "node:path";
import { closePrivateGit, openPrivateGit } from "../git/private-session.ts";
import type { GitTraps } from "../git/trap-scan.ts";
import { gitMounts, inspectWorkspaceGit, type WorkspaceGit } from "../git/workspace-git.ts";
import type { ContainerUser, DockerConfig } from "../runtime/docker-config.ts";
import type { ExecuteOptions } from "../runtime/interface.ts";
import { inside } from "./layout.ts";
import type { Mount } from "./mounts.ts";
import { giveFolder } from "./own-folder.ts";
import { checkAccess, containerUser } from "./user.ts";
import { checkMountable, volumeMounts } from "./volumes.ts";
import { operatorFiles, workspaceFacts } from "./workspace-facts.ts";
import { guardWorkspace, type Placeholder } from "./workspace-guard.ts";

export interface ContainerPlan {
  workspace: string;
  user: ContainerUser;
  mounts: Mount[];
  placeholders: Placeholder[];
  warnings: string[];
  /** Undefined where the workspace is read-only. */
  git: WorkspaceGit | undefined;
}

export type PlanOptions = Pick<
  ExecuteOptions,
  "agent" | "cwd" | "privateDir" | "doorDir" | "authFile" | "gitDir"
>;

/** Decides what a run's container is given, and finds out whether its user can use it. */
export async function planContainer(
  config: DockerConfig,
  options: PlanOptions,
  stateDir: string,
  knownTraps?: GitTraps,
): Promise<ContainerPlan> {
  const workspace = checkMountable(options.cwd, stateDir);
  const user = containerUser(config, workspace);
  const write = config.workspaceMode === "rw";
  checkAccess(user, {
    path: workspace,
    what: "the working directory",
    write,
    remedy: write
      ? "name another with `docker.user`, or use `workspace_mode: ro`"
      : "or name another with `docker.user`",
  });
  const sessions = sessionsDir(stateDir, config.agent);
  giveFolder(sessions, user);
  const facts = workspaceFacts(workspace, config.workspaceMode, options.agent, stateDir);
  const place = { workspace, agent: config.agent, stateDir, skip: facts.secret };
  const git = write ? await inspectWorkspaceGit(place, knownTraps) : undefined;
  if (git?.found.kind === "found") {
    for (const folder of git.found.repository.objects) checkMountable(folder, stateDir);
  }
  if (git) giveFolder(git.ownDir, user);
  const { mounts, placeholders } = guardWorkspace({
    ...facts,
    git: git ? gitMounts(git, place, options.gitDir) : [],
    namedByGit: git?.readOnly ?? [],
  });
  return {
    workspace,
    user,
    placeholders,
    warnings: git?.warnings ?? [],
    git,
    mounts: [
      ...mounts,
      { source: sessions, target: inside.configDir, readOnly: false },
      { source: options.privateDir, target: inside.privateDir, readOnly: true },
      ...(options.doorDir
        ? [{ source: options.doorDir, target: inside.door, readOnly: true }]
        : []),
      ...(options.authFile ? [authMount(options.authFile, user)] : []),
      ...options.agent.plugins.map((source, index) => pluginMount(source, index, stateDir)),
      ...volumeMounts(config.volumes, user, stateDir),
    ],
  };
}

/** Makes what the plan mounts in place of `.git`. */
export async function prepareGit(
  config: DockerConfig,
  { agent, gitDir }: PlanOptions,
  { git, workspace, user }: ContainerPlan,
  stateDir: string,
): Promise<void> {
  if (gitDir === undefined) return;
  await closePrivateGit(gitDir);
  if (!git) return;
  const { secret: skip } = operatorFiles(agent, stateDir);
  const commitBranch = config.commitBranch;
  const place = { workspace, agent: config.agent, stateDir, skip };
  await openPrivateGit(gitDir, git, { ...place, user, commitBranch });
}

/** Settings and sessions of one agent's containers; no other's and not the host's. */
export function sessionsDir(stateDir: string, agent: string): string {
  return join(stateDir, "docker-sessions", agent);
}

export function pluginInside(index: number): string {
  return `${inside.plugins}/${index}`;
}

function pluginMount(path: string, index: number, stateDir: string): Mount {
  return { source: checkMountable(path, stateDir), target: pluginInside(index), readOnly: true };
}

/** Renewed by whoever signed in; the container reads what is there when it starts. */
function authMount(source: string, user: ContainerUser): Mount {
  checkAccess(user, {
    path: source,
    what: "the login file",
    write: false,
    remedy: "name its owner with `docker.user`, or use `auth: env` with CLAUDE_CODE_OAUTH_TOKEN",
  });
  return { source, target: `${inside.configDir}/.credentials.json`, readOnly: true };
}
