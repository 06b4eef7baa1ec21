import { basename } from "node:path";
import type { ResolvedAgent } from "@herdctl/config";
import { isNamedVolume } from "@herdctl/config";
import type { Mount } from "../../docker/mounts.ts";
import { containerPaths } from "../../lib/container-layout.ts";

type AgentPaths = Pick<
  ResolvedAgent,
  "plugins" | "additional_directories" | "project_config_root" | "docker"
>;

/** The read-only mounts for files and folders that options of an agent name. */
export function optionMounts(agent: AgentPaths, checkMountable: (path: string) => string): Mount[] {
  return [...containerTargets(agent)].flatMap(([source, target]) =>
    isVolumeTarget(agent, target)
      ? []
      : [{ source: checkMountable(source), target, readOnly: true }],
  );
}

/** The agent with the paths at which its container sees those files and folders. */
export function withContainerPaths(agent: ResolvedAgent): ResolvedAgent {
  const targets = containerTargets(agent);
  const inContainer = (path: string) => targets.get(path) ?? path;
  const { project_config_root: root } = agent;
  return {
    ...agent,
    plugins: agent.plugins.map(inContainer),
    additional_directories: agent.additional_directories.map(inContainer),
    project_config_root: root && inContainer(root),
  };
}

/** Where the container sees each file and folder of the host. */
function containerTargets(agent: AgentPaths): ReadonlyMap<string, string> {
  const { project_config_root: root } = agent;
  const folders = [...agent.additional_directories, ...(root === undefined ? [] : [root])];
  return new Map([
    // Claude Code recognizes an archive by its ending.
    ...agent.plugins.map(
      (path, index) => [path, `${containerPaths.plugins}/${index}-${basename(path)}`] as const,
    ),
    ...folders.map((path, index) => [path, `${containerPaths.folders}/${index}`] as const),
    // A volume of the same folder decides whether it is writable.
    ...agent.docker.volumes
      .filter((volume) => !isNamedVolume(volume) && folders.includes(volume.source))
      .map(({ source, target }) => [source, target] as const),
  ]);
}

function isVolumeTarget({ docker }: AgentPaths, target: string): boolean {
  return docker.volumes.some((volume) => volume.target === target);
}
