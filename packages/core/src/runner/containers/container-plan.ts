import { existsSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { collectProtectedPaths, findSecret, isNamedVolume, resolveLinks } from "@herdctl/config";
import { UserError } from "@herdctl/protocol";
import type { ContainerUser, DockerConfig } from "../../docker/docker-config.ts";
import { checkAccess, containerUser } from "../../docker/docker-config.ts";
import type { Mount } from "../../docker/mounts.ts";
import {
  guardWorkspace,
  operatorFiles,
  type Placeholder,
  readWorkspaceFacts,
} from "../../docker/workspace-guard.ts";
import { containerPaths } from "../../lib/container-layout.ts";
import { closePrivateGit, openPrivateGit } from "../../private-git/private-git-lifecycle.ts";
import type { GitTraps } from "../../private-git/scan-git-traps.ts";
import {
  gitMounts,
  inspectWorkspaceGit,
  type WorkspaceGit,
} from "../../private-git/workspace-git.ts";
import type { ExecuteOptions } from "../runtimes/runtime-interface.ts";
import { assignFolderToUser } from "./container-folders.ts";
import { optionMounts } from "./option-mounts.ts";

export interface ContainerPlan {
  workspace: string;
  user: ContainerUser;
  mounts: Mount[];
  placeholders: Placeholder[];
  warnings: string[];
  /** Undefined if the workspace is read-only. */
  git: WorkspaceGit | undefined;
}

export type PlanContainerOptions = Pick<
  ExecuteOptions,
  "agent" | "cwd" | "privateDir" | "socketDir" | "authFile" | "gitDir"
>;

/** Decides on the mounts of a run's container, and checks that its user can access them. */
export async function planContainer(
  config: DockerConfig,
  options: PlanContainerOptions,
  stateDir: string,
  knownTraps?: GitTraps,
): Promise<ContainerPlan> {
  const workspace = checkMountable(options.cwd, stateDir);
  const user = containerUser(config, workspace);
  const write = config.workspaceMode === "rw";
  checkAccess(user, {
    path: workspace,
    label: "the working directory",
    needsWrite: write,
    remedy: write
      ? "set another user with `docker.user`, or use `workspace_mode: ro`"
      : "or set another user with `docker.user`",
  });
  const sessionsFolder = containerSessionsDir(stateDir, options.agent.name);
  assignFolderToUser(sessionsFolder, user);
  const facts = readWorkspaceFacts(workspace, config.workspaceMode, options.agent, stateDir);
  const gitLocation = { workspace, agent: options.agent.name, stateDir, skip: facts.secretFiles };
  const git = write ? await inspectWorkspaceGit(gitLocation, knownTraps) : undefined;
  if (git?.found.kind === "found") {
    for (const folder of git.found.repository.objects) checkMountable(folder, stateDir);
  }
  if (git) assignFolderToUser(git.agentGitDir, user);
  const { mounts, placeholders } = guardWorkspace({
    ...facts,
    git: git ? gitMounts(git, gitLocation, options.gitDir) : [],
    namedByGit: git?.readOnlyFiles ?? [],
  });
  return {
    workspace,
    user,
    placeholders,
    warnings: git?.warnings ?? [],
    git,
    mounts: [
      ...mounts,
      { source: sessionsFolder, target: containerPaths.configDir, readOnly: false },
      { source: options.privateDir, target: containerPaths.privateDir, readOnly: true },
      ...(options.socketDir
        ? [{ source: options.socketDir, target: containerPaths.proxySockets, readOnly: true }]
        : []),
      ...(options.authFile ? [authMount(options.authFile, user)] : []),
      ...optionMounts(options.agent, (path) => checkMountable(path, stateDir)),
      ...volumeMounts(config.volumes, user, stateDir),
    ],
  };
}

/** Creates the private git directory that the plan mounts in place of `.git`. */
export async function openContainerGit(
  config: DockerConfig,
  { agent, gitDir }: PlanContainerOptions,
  { git, workspace, user }: ContainerPlan,
  stateDir: string,
): Promise<void> {
  if (gitDir === undefined) return;
  await closePrivateGit(gitDir);
  if (!git) return;
  const { secretFiles } = operatorFiles(agent, stateDir);
  const commitBranch = config.commitBranch;
  const gitLocation = { workspace, agent: agent.name, stateDir, skip: secretFiles };
  await openPrivateGit(gitDir, git, { ...gitLocation, user, commitBranch });
}

/** Settings and sessions of one agent's containers, separate from other agents and the host. */
export function containerSessionsDir(stateDir: string, agent: string): string {
  return join(stateDir, "docker-sessions", agent);
}

/** The login file is refreshed on the host; the container only reads it. */
function authMount(source: string, user: ContainerUser): Mount {
  checkAccess(user, {
    path: source,
    label: "the login file",
    needsWrite: false,
    remedy: "set its owner as `docker.user`, or use `auth: env` with CLAUDE_CODE_OAUTH_TOKEN",
  });
  return { source, target: `${containerPaths.configDir}/.credentials.json`, readOnly: true };
}

/**
 * Checks the configured folders again, because a symbolic link may have changed since the
 * configuration was read, and the engine would create missing folders as root.
 */
function volumeMounts(
  volumes: DockerConfig["volumes"],
  user: ContainerUser,
  stateDir: string,
): Mount[] {
  return volumes.map((volume) => {
    const { source, target, mode } = volume;
    if (isNamedVolume(volume)) return { source, target, readOnly: mode === "ro", isVolume: true };
    if (!existsSync(source)) {
      throw new UserError("workspace_unusable", `The volume ${source} does not exist.`, {
        hint: "Create it, or correct `docker.volumes`.",
      });
    }
    const realPath = checkMountable(source, stateDir);
    const write = mode === "rw";
    checkAccess(user, {
      path: realPath,
      label: "the volume",
      needsWrite: write,
      remedy: write ? "or mount it read-only (`:ro`)" : "or make it readable for others",
    });
    return { source: realPath, target, readOnly: /* defence: volume-read-only */ !write };
  });
}

/** The real path of a file or folder, after checking that it may be mounted into a container. */
function checkMountable(path: string, stateDir: string): string {
  const realPath = realpathSync(path);
  const secret = findSecret(realPath, collectProtectedPaths([], resolveLinks(stateDir)));
  // defence: mounts-checked-at-start
  if (secret === undefined) return realPath;
  throw new UserError("workspace_unusable", `The container would get access to ${secret}.`, {
    hint: "Use a separate folder for the agent, such as a clone: `working_directory: { repo: … }`.",
  });
}
