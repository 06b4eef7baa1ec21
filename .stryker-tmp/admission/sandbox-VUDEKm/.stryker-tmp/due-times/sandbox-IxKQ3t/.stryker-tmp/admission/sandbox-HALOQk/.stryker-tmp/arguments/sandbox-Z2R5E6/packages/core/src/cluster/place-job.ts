import type { Node } from "@herdctl/protocol";

export interface PlacementRules {
  /** Labels that a node must have. */
  runsOn: readonly string[];
  /** How to handle a job whose home node is gone. */
  whenNodeGone: "wait" | "move";
}

/** A node and the number of jobs that run on it, or are about to. */
export interface NodeLoad {
  node: Node;
  busy: number;
}

/** The node that a job is bound to, because its session or last attempt is there. */
export type AffinityNode = string | null;

export type Placement =
  /** `movedFrom`: the former home node of the job. */
  | { kind: "at"; node: Node; movedFrom?: string }
  /** All suitable nodes are at their limit, or have a different configuration at the moment. */
  | { kind: "full" }
  /** Only a node that is not available could run it. */
  | { kind: "waits"; message: string };

export interface PlacementContext {
  /** All nodes, including those that are gone. */
  nodes: readonly NodeLoad[];
  /** The node that decides. */
  selfId: string;
  /** Hash of the configuration by which it decides. */
  configHash: string;
}

/**
 * Chooses the node of a job. A live home node is the only choice, because the session is on its
 * disk. Otherwise this node comes first, then the node with the largest share of free slots.
 */
export function placeJob(
  affinityNode: AffinityNode,
  rules: PlacementRules,
  context: PlacementContext,
): Placement {
  const affinityLoad =
    affinityNode === null ? undefined : context.nodes.find(({ node }) => node.id === affinityNode);
  const isHomeLive = affinityLoad !== undefined && canRunJob(affinityLoad.node, rules);
  if (isHomeLive) return pickLeastLoaded([affinityLoad], context);
  if (affinityNode !== null && rules.whenNodeGone === "wait")
    return {
      kind: "waits",
      message: waitingForHomeMessage(affinityLoad?.node.name ?? affinityNode),
    };
  const eligible = context.nodes.filter(({ node }) => canRunJob(node, rules));
  if (eligible.length === 0) return { kind: "waits", message: waitingForLabelsMessage(rules) };
  const best = pickLeastLoaded(eligible, context);
  return best.kind === "at" && affinityNode !== null
    ? { ...best, movedFrom: affinityLoad?.node.name ?? affinityNode }
    : best;
}

/** Whether the node is suitable, regardless of free slots. */
function canRunJob({ status, role, labels }: Node, { runsOn }: PlacementRules): boolean {
  return status === "live" && role !== "control" && runsOn.every((label) => labels.includes(label));
}

function pickLeastLoaded(
  eligible: readonly NodeLoad[],
  { selfId, configHash }: PlacementContext,
): Placement {
  const free = eligible.filter(
    ({ node, busy }) => node.config_hash === configHash && busy < node.capacity,
  );
  const best = free.find(({ node }) => node.id === selfId) ?? [...free].sort(compareLoad)[0];
  return best ? { kind: "at", node: best.node } : { kind: "full" };
}

function compareLoad(a: NodeLoad, b: NodeLoad): number {
  return loadRatio(a) - loadRatio(b) || (a.node.id < b.node.id ? -1 : 1);
}

function loadRatio({ node, busy }: NodeLoad): number {
  return busy / node.capacity;
}

function waitingForHomeMessage(name: string): string {
  return `waits for node ${name}, which has its session and is not available (\`when_node_gone: wait\`)`;
}

function waitingForLabelsMessage({ runsOn }: PlacementRules): string {
  return runsOn.length === 0
    ? "waits for a node that runs jobs; none is available"
    : `waits for a node with the labels ${runsOn.join(", ")}; none is available`;
}
