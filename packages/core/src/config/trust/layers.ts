import { at, mergeTrees, type Tree } from "../../document/tree.ts";
import type { Grant } from "./grant.ts";

/** What one author says about an agent. */
export interface AgentLayer {
  /** 0 is the fleet file that was started; an included fleet counts one further in. */
  rank: number;
  by: "fleet" | "agent";
  /** Empty when the author is trusted like the fleet file that was started. */
  grants: readonly Grant[];
  tree: Tree;
}

/** A layer before it is known whether its agent runs in Docker. */
export interface WrittenLayer extends AgentLayer {
  /** With only those variables filled in that its author may use. */
  limited: Tree | undefined;
}

/**
 * For an agent in Docker, each layer with only the variables that its author may use. An agent
 * counts as one in Docker if it is so with or without the limited layers: a file can neither
 * switch Docker off nor hide behind a variable that it switches Docker on.
 */
export function chooseTrees(written: readonly WrittenLayer[]): {
  layers: AgentLayer[];
  runsInDocker: boolean;
} {
  const limited = written.map(({ limited, tree, ...rest }) => ({ ...rest, tree: limited ?? tree }));
  const trusted = written.filter(({ grants }) => grants.length === 0);
  const runsInDocker = [written, limited, trusted].some((layers) => {
    const enabled = at(mergeLayers(layers), ["docker", "enabled"]);
    return enabled?.kind === "scalar" && enabled.value === true;
  });
  const layers = runsInDocker ? limited : written.map(({ limited: _, ...rest }) => rest);
  return { layers, runsInDocker };
}

/** The layers outrank a layer that lie in a fleet further out, or in its fleet file. */
export function outranking(layers: readonly AgentLayer[], layer: AgentLayer): AgentLayer[] {
  return layers.filter((other) => {
    if (other.rank !== layer.rank) return other.rank < layer.rank;
    return other.by === "fleet" && layer.by === "agent";
  });
}

export function mergeLayers(layers: readonly Pick<AgentLayer, "tree">[]): Tree | undefined {
  return layers.reduce<Tree | undefined>((merged, one) => mergeTrees(merged, one.tree), undefined);
}
