import { mergeTrees, type Tree, treeAt } from "../yaml/tree.ts";
import type { Grant } from "./grant.ts";

/** The settings of one author for an agent. */
export interface AgentLayer {
  /** 0 for the fleet file that was started, 1 for a fleet that it includes, and so on. */
  rank: number;
  author: "fleet" | "agent";
  /** Empty if the author has full trust. */
  grants: readonly Grant[];
  tree: Tree;
}

/** A layer before it is known whether its agent runs in Docker. */
export interface WrittenLayer extends AgentLayer {
  /** The tree with only those variables that its author may use. */
  limited: Tree | undefined;
}

/**
 * For an agent in Docker, returns each layer with only the variables that its author may use. An
 * agent counts as in Docker if `docker.enabled` is true with or without the limited layers, so a
 * limited file can neither switch Docker off nor hide the switch behind a variable.
 */
export function chooseLayerTrees(written: readonly WrittenLayer[]): {
  layers: AgentLayer[];
  isInDocker: boolean;
} {
  const limited = written.map(({ limited, tree, ...rest }) => ({ ...rest, tree: limited ?? tree }));
  const trusted = written.filter(({ grants }) => grants.length === 0);
  const isInDocker = /* defence: no-docker-opt-out */ [written, limited, trusted].some((layers) => {
    const enabled = treeAt(mergeLayers(layers), ["docker", "enabled"]);
    return enabled?.kind === "scalar" && enabled.value === true;
  });
  const layers = isInDocker ? limited : written.map(({ limited: _, ...rest }) => rest);
  return { layers, isInDocker };
}

/**
 * Layers of outer fleets outrank a layer. The layers of its own fleet file also outrank an agent
 * file.
 */
export function findOutrankingLayers(
  layers: readonly AgentLayer[],
  layer: AgentLayer,
): AgentLayer[] {
  return layers.filter((other) => {
    if (other.rank !== layer.rank)
      return /* defence: included-fleet-rank */ other.rank < layer.rank;
    return other.author === "fleet" && layer.author === "agent";
  });
}

export function mergeLayers(layers: readonly Pick<AgentLayer, "tree">[]): Tree | undefined {
  return layers.reduce<Tree | undefined>((merged, { tree }) => mergeTrees(merged, tree), undefined);
}
