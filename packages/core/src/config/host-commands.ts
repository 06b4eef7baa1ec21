import type { Problem } from "../document/problem.ts";
import { type Tree, valuePlaceOf } from "../document/tree.ts";
import { followLinks, holds } from "./boundary.ts";
import { type ResolvedAgent, resolvePath } from "./resolve.ts";

/** An agent with the tree that says where its words stand. */
export interface PlacedAgent {
  agent: ResolvedAgent;
  tree: Tree;
}

/**
 * Hooks and gates run on the host. A command that names a file which a container may write would
 * let whoever sits in the container choose what the host runs.
 */
export function checkHostCommands(agents: PlacedAgent[]): Problem[] {
  const writable = agents.flatMap(({ agent }) => writableFolders(agent));
  if (writable.length === 0) return [];
  return agents.flatMap(({ agent, tree }) =>
    hostCommands(agent).flatMap(({ command, path }) => {
      const named = pathsIn(command, agent.fleet_dir);
      const found = writable.find(({ folder }) => named.some((one) => holds(folder, one)));
      if (!found) return [];
      return [
        {
          ...(valuePlaceOf(tree, path) ?? tree.place),
          path: path.join("."),
          message: `this command names a file that the container of \`${found.agent}\` could write`,
          hint: "Put what the host runs into a folder that no container is given.",
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
  const ofHooks = (["after_run", "on_error"] as const).flatMap((event) =>
    hooks[event].flatMap((hook, index) =>
      hook.type === "shell"
        ? [{ command: hook.command, path: ["hooks", event, index, "command"] }]
        : [],
    ),
  );
  const ofGates = Object.entries(schedules).flatMap(([name, { gate }]) =>
    gate ? [{ command: gate.command, path: ["schedules", name, "gate", "command"] }] : [],
  );
  return [...ofHooks, ...ofGates];
}

export function writableFolders({ name: agent, docker, working_directory }: ResolvedAgent) {
  if (!docker.enabled) return [];
  const volumes = docker.volumes.filter(({ mode }) => mode === "rw").map(({ source }) => source);
  const workspace = docker.workspace_mode === "rw" ? [working_directory.path] : [];
  return [...workspace, ...volumes].map((path) => ({ agent, folder: followLinks(path) }));
}

/** Every word that could be a path, as the shell would find it from the fleet's folder. */
function pathsIn(command: string, folder: string): string[] {
  const words = command.split(/[\s;|&<>()"'`=]+/).filter((word) => word !== "");
  return words.map((word) => followLinks(resolvePath(folder, word)));
}
