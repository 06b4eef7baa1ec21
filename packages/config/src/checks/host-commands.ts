import { hookEvents, type Problem } from "@herdctl/protocol";
import { type ResolvedAgent, resolvePath } from "../resolve-agent.ts";
import { isNamedVolume } from "../schema/docker.ts";
import { type Tree, valuePositionOf } from "../yaml/tree.ts";
import { containsPath, resolveLinks } from "./mounts.ts";

/** An agent with its tree, which records where each value was written. */
export interface AgentWithTree {
  agent: ResolvedAgent;
  tree: Tree;
}

/**
 * Hooks and gates run on the host. If a container can write a file that such a command names, code
 * in the container decides what the host runs.
 */
export function checkHostCommands(agents: AgentWithTree[]): Problem[] {
  const writable = agents.flatMap(({ agent }) => listWritableFolders(agent));
  if (writable.length === 0) return [];
  return agents.flatMap(({ agent, tree }) =>
    hostCommands(agent).flatMap(({ command, path }) => {
      const named = extractPaths(command, agent.fleet_dir);
      const found = writable.find(({ folder }) => named.some((path) => containsPath(folder, path)));
      // defence: no-host-command-from-mount
      if (!found) return [];
      return [
        {
          ...(valuePositionOf(tree, path) ?? tree.place),
          path: path.join("."),
          message: `this command names a file that the container of \`${found.agent}\` could write`,
          hint: "Move the file to a folder that no container mounts.",
        },
      ];
    }),
  );
}

interface HostCommand {
  command: string;
  path: (string | number)[];
}

function hostCommands({ hooks, schedules }: ResolvedAgent): HostCommand[] {
  const hookCommands = hookEvents.flatMap((event) =>
    hooks[event].flatMap((hook, index) =>
      hook.type === "shell"
        ? [{ command: hook.command, path: ["hooks", event, index, "command"] }]
        : [],
    ),
  );
  const gateCommands = Object.entries(schedules).flatMap(([name, { gate }]) =>
    gate ? [{ command: gate.command, path: ["schedules", name, "gate", "command"] }] : [],
  );
  return [...hookCommands, ...gateCommands];
}

export function listWritableFolders({ name: agent, docker, working_directory }: ResolvedAgent) {
  if (!docker.enabled) return [];
  const volumes = docker.volumes
    .filter((volume) => volume.mode === "rw" && !isNamedVolume(volume))
    .map(({ source }) => source);
  const workspace = docker.workspace_mode === "rw" ? [working_directory.path] : [];
  return [...workspace, ...volumes].map((path) => ({ agent, folder: resolveLinks(path) }));
}

/** Every word of the command that could be a path, resolved from the fleet's folder. */
function extractPaths(command: string, folder: string): string[] {
  const words = command.split(/[\s;|&<>()"'`=]+/).filter((word) => word !== "");
  return words.map((word) => resolveLinks(resolvePath(folder, word)));
}
