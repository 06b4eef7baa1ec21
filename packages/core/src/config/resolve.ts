import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { at, type Tree } from "../document/tree.ts";
import type { AgentConfig } from "./schema/agent.ts";

/** An agent with every default applied, every path absolute, and its qualified name. */
export interface ResolvedAgent extends Omit<AgentConfig, "working_directory"> {
  working_directory: WorkingDirectory;
  /** The file that describes it. */
  file: string;
  /** The folder of its fleet file, where its hooks and gates run. */
  fleet_dir: string;
  /** Set when a limited file wrote other tool rules: these are for MCP servers on the host. */
  host_tools?: HostTools;
}

/** Which tools of MCP servers outside of the container may be called without asking. */
export type HostTools = Pick<AgentConfig, "permission_mode" | "allowed_tools">;

export interface WorkingDirectory {
  path: string;
  /** Set when the folder is a clone that herdctl makes for this agent alone. */
  clone?: { repo: string; branch?: string; depth?: number };
}

/** A path is relative to the file it was written in, whichever layer that was. */
export function resolveAgent(
  config: AgentConfig,
  tree: Tree,
  from: { name: string; file: string; fleetDir: string; hostTools?: HostTools },
): ResolvedAgent {
  const absolute = (path: string, ...written: (string | number)[]) => {
    const file = at(tree, written)?.place.file;
    return resolvePath(file ? dirname(file) : from.fleetDir, path);
  };
  // The short form, `working_directory: ../repo`, has no key of its own for the path.
  const isShort = at(tree, ["working_directory"])?.kind === "scalar";
  const pathKey = isShort ? ["working_directory"] : ["working_directory", "path"];
  return {
    ...config,
    name: from.name,
    file: from.file,
    fleet_dir: from.fleetDir,
    host_tools: from.hostTools,
    working_directory: resolveWorkingDirectory(config, from, absolute, pathKey),
    plugins: config.plugins.map((path, index) => absolute(path, "plugins", index)),
    docker: {
      ...config.docker,
      volumes: config.docker.volumes.map((volume, index) => ({
        ...volume,
        source: absolute(volume.source, "docker", "volumes", index),
      })),
    },
  };
}

function resolveWorkingDirectory(
  config: AgentConfig,
  from: { name: string; fleetDir: string },
  absolute: (path: string, ...written: string[]) => string,
  pathKey: readonly string[],
): WorkingDirectory {
  const given = config.working_directory;
  if (given === undefined) return { path: from.fleetDir };
  if ("path" in given) return { path: absolute(given.path, ...pathKey) };
  const root = absolute(given.root, "working_directory", "root");
  const clone = { repo: given.repo, branch: given.branch, depth: given.clone_depth };
  return { path: join(root, from.name), clone };
}

export function resolvePath(folder: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return resolve(folder, path);
}
