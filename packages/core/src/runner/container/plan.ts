import { join } from "node:path";
import type { ContainerUser, DockerConfig } from "../runtime/docker-config.ts";
import type { ExecuteOptions } from "../runtime/interface.ts";
import { inside } from "./layout.ts";
import type { Mount } from "./mounts.ts";
import { giveFolder } from "./own-folder.ts";
import { checkAccess, containerUser } from "./user.ts";
import { checkMountable, volumeMounts } from "./volumes.ts";
import { workspaceFacts } from "./workspace-facts.ts";
import { guardWorkspace, type Placeholder } from "./workspace-guard.ts";

export interface ContainerPlan {
  workspace: string;
  user: ContainerUser;
  mounts: Mount[];
  placeholders: Placeholder[];
  warnings: string[];
}

/** Decides what a run's container is given, and finds out whether its user can use it. */
export function planContainer(
  config: DockerConfig,
  options: Pick<ExecuteOptions, "agent" | "cwd" | "privateDir" | "doorDir" | "authFile">,
  stateDir: string,
): ContainerPlan {
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
  const { mounts, placeholders, warnings } = guardWorkspace(facts);
  return {
    workspace,
    user,
    placeholders,
    warnings,
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
