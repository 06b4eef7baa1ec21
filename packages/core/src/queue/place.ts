import type { Node } from "../state/node.ts";

export interface PlaceRules {
  /** Labels that a node must have. */
  runsOn: readonly string[];
  /** What becomes of a job whose home is gone. */
  whenGone: "wait" | "move";
}

/** A node and how many jobs are at work on it, or about to be. */
export interface LoadedNode {
  node: Node;
  busy: number;
}

/** Why a job is bound to a node: its session or its last attempt lies there. */
export type Home = string | null;

export type Placement =
  /** `movedFrom`: the home that it leaves for good. */
  | { kind: "at"; node: Node; movedFrom?: string }
  /** Those that could take it are at their limit, or read another configuration right now. */
  | { kind: "full" }
  /** Only a node that is not here could take it. */
  | { kind: "waits"; message: string };

export interface Places {
  /** Of all nodes, also of those that are gone. */
  nodes: readonly LoadedNode[];
  /** The one that decides. */
  here: string;
  /** The print of the configuration by which it decides. */
  print: string;
}

/**
 * On which node a job runs. A home that lives is the only choice, since what the job goes on with
 * lies on its disk. Else this node before others, then the one with the most of its places free.
 */
export function place(home: Home, rules: PlaceRules, places: Places): Placement {
  const bound = home === null ? undefined : places.nodes.find(({ node }) => node.id === home);
  const homeLives = bound !== undefined && couldRun(bound.node, rules);
  if (homeLives) return atBest([bound], places);
  if (home !== null && rules.whenGone === "wait")
    return { kind: "waits", message: waitsForHome(bound?.node.name ?? home) };
  const able = places.nodes.filter(({ node }) => couldRun(node, rules));
  if (able.length === 0) return { kind: "waits", message: waitsForLabels(rules) };
  const best = atBest(able, places);
  return best.kind === "at" && home !== null
    ? { ...best, movedFrom: bound?.node.name ?? home }
    : best;
}

/** What it is; whether it has room is another question. */
function couldRun({ status, role, labels }: Node, { runsOn }: PlaceRules): boolean {
  return status === "live" && role !== "control" && runsOn.every((label) => labels.includes(label));
}

function atBest(able: readonly LoadedNode[], { here, print }: Places): Placement {
  const free = able.filter(({ node, busy }) => node.config_print === print && busy < node.capacity);
  const best = free.find(({ node }) => node.id === here) ?? [...free].sort(byRoom)[0];
  return best ? { kind: "at", node: best.node } : { kind: "full" };
}

function byRoom(a: LoadedNode, b: LoadedNode): number {
  return loadOf(a) - loadOf(b) || (a.node.id < b.node.id ? -1 : 1);
}

function loadOf({ node, busy }: LoadedNode): number {
  return busy / node.capacity;
}

function waitsForHome(name: string): string {
  return `waits for node ${name}, where its session is: that node is not there (\`when_node_gone: wait\`)`;
}

function waitsForLabels({ runsOn }: PlaceRules): string {
  return runsOn.length === 0
    ? "waits for a node that runs jobs: none is there"
    : `waits for a node with the labels ${runsOn.join(", ")}: none is there`;
}
