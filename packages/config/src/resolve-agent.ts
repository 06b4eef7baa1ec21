import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { resolveClaudePaths } from "./resolve-claude-paths.ts";
import type { AgentConfig } from "./schema/agent.ts";
import { isNamedVolume } from "./schema/docker.ts";
import type { SystemPrompt } from "./system-prompt-texts.ts";
import { withToolPolicies } from "./tool-policies.ts";
import { type Tree, treeAt } from "./yaml/tree.ts";

/** An agent with every default applied, every path absolute, and its qualified name. */
export interface ResolvedAgent extends Omit<AgentConfig, "working_directory" | "system_prompt"> {
  working_directory: WorkingDirectory;
  /** With the texts of its files. */
  system_prompt?: SystemPrompt;
  /** The file that describes the agent. */
  file: string;
  /** The folder of its fleet file, where its hooks and gates run. */
  fleet_dir: string;
  /**
   * Tool rules for MCP servers on the host. Set for Docker agents with limited layers, whose own
   * rules apply inside the container only.
   */
  host_tools?: HostTools;
  /**
   * Set if the fleet file puts the agent into a container and does not choose `runtime: cli`: an agent
   * file that does must not get the user's login into the container.
   */
  withhold_login?: boolean;
}

/** Which tools of MCP servers outside the container may be called without asking. */
export type HostTools = Pick<AgentConfig, "permission_mode" | "allowed_tools">;

export interface WorkingDirectory {
  path: string;
  /** Set if the folder is a clone that herdctl makes for this agent only. */
  clone?: { repo: string; branch?: string; depth?: number };
}

/**
 * A path is relative to the file in which it was written, whatever the layer of that file. The system
 * prompt is added later, because it may be in a file.
 */
export function resolveAgent(
  config: AgentConfig,
  tree: Tree,
  identity: {
    name: string;
    file: string;
    fleetDir: string;
    hostTools?: HostTools;
    withholdLogin?: boolean;
  },
): ResolvedAgent {
  const toAbsolutePath = (path: string, ...written: (string | number)[]) => {
    const file = treeAt(tree, written)?.place.file;
    return resolvePath(file ? dirname(file) : identity.fleetDir, path);
  };
  // The short form, `working_directory: ../repo`, has no separate key for the path.
  const isShortForm = treeAt(tree, ["working_directory"])?.kind === "scalar";
  const pathKey = isShortForm ? ["working_directory"] : ["working_directory", "path"];
  const { system_prompt: _unread, ...fields } = config;
  return {
    ...fields,
    name: identity.name,
    file: identity.file,
    fleet_dir: identity.fleetDir,
    host_tools: identity.hostTools,
    ...(identity.withholdLogin && { withhold_login: true }),
    working_directory: resolveWorkingDirectory(config, identity, toAbsolutePath, pathKey),
    mcp_servers: resolveServerPaths(config, toAbsolutePath),
    ...(config.provider && { provider: resolveProviderPaths(config.provider, toAbsolutePath) }),
    ...resolveClaudePaths(config, toAbsolutePath),
    ...withToolPolicies(config),
    docker: {
      ...config.docker,
      volumes: config.docker.volumes.map((volume, index) => ({
        ...volume,
        source: isNamedVolume(volume)
          ? volume.source
          : toAbsolutePath(volume.source, "docker", "volumes", index),
      })),
    },
  };
}

function resolveProviderPaths(
  provider: NonNullable<AgentConfig["provider"]>,
  toAbsolutePath: (path: string, ...written: string[]) => string,
): AgentConfig["provider"] {
  const { key_file } = provider;
  if (key_file === undefined) return provider;
  return { ...provider, key_file: toAbsolutePath(key_file, "provider", "key_file") };
}

/**
 * A program and arguments that begin with `./`, `../` or `~/` are paths, except in a container, where
 * paths of this machine mean nothing. A command without a slash is found on the PATH.
 */
function resolveServerPaths(
  config: AgentConfig,
  toAbsolutePath: (path: string, ...written: (string | number)[]) => string,
): AgentConfig["mcp_servers"] {
  const servers = Object.entries(config.mcp_servers).map(([name, server]) => {
    const isInContainer = config.docker.enabled && server.run === "container";
    if (!("command" in server) || isInContainer) return [name, server] as const;
    const written = ["mcp_servers", name] as const;
    const { command } = server;
    return [
      name,
      {
        ...server,
        command: command.includes("/") ? toAbsolutePath(command, ...written, "command") : command,
        args: server.args.map((text, index) =>
          /^(\.{1,2}|~)\//.test(text) ? toAbsolutePath(text, ...written, "args", index) : text,
        ),
      },
    ] as const;
  });
  return Object.fromEntries(servers);
}

function resolveWorkingDirectory(
  config: AgentConfig,
  identity: { name: string; fleetDir: string },
  toAbsolutePath: (path: string, ...written: string[]) => string,
  pathKey: readonly string[],
): WorkingDirectory {
  const configured = config.working_directory;
  if (configured === undefined) return { path: identity.fleetDir };
  if ("path" in configured) return { path: toAbsolutePath(configured.path, ...pathKey) };
  const root = toAbsolutePath(configured.root, "working_directory", "root");
  const clone = { repo: configured.repo, branch: configured.branch, depth: configured.clone_depth };
  return { path: join(root, identity.name), clone };
}

export type LoginAgent = Pick<ResolvedAgent, "credential" | "runtime" | "withhold_login"> & {
  docker: Pick<ResolvedAgent["docker"], "auth" | "network">;
};

/**
 * Whether the container of an agent gets the user's login if no other credential is found. Not with a
 * network of its own: a program could send the login anywhere, or renew it and so end it on the host.
 */
export function mayUseLoginByDefault({
  credential,
  runtime,
  docker,
  withhold_login,
}: LoginAgent): boolean {
  if (docker.auth !== undefined || docker.network !== "none") return false;
  const isForCli = runtime.type === "cli" && credential === "auto";
  return credential === "subscription" || (isForCli && !withhold_login);
}

export function resolvePath(folder: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(folder, path);
}
