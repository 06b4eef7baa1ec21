import { hostname } from "node:os";
import type { SharedStore } from "../../state/shared.ts";
import { knownNodeId } from "./known-node.ts";
import { type NodeView, viewNodes } from "./node-view.ts";

export interface NodesFacts {
  stateDir: string;
  shared?: SharedStore;
}

/** A node that went so long ago is nobody's concern any more, s. */
const remembered = 7 * 86_400;

/** All nodes that take part, and those that left or were lost of late. */
export async function listNodes({ stateDir, shared }: NodesFacts, now: Date): Promise<NodeView[]> {
  if (!shared) return [];
  const [nodes, configPrint] = [await shared.nodes.list(), await shared.nodes.configPrint()];
  const views = viewNodes(nodes, { here: knownNodeId(stateDir), configPrint, now });
  return views.filter(
    ({ status, seconds_since_beat }) => status === "live" || seconds_since_beat < remembered,
  );
}

/** The one node of a fleet that has a database of its own. */
export function onlyNode(
  facts: { running: number; capacity: number; version: string; startedAt: Date },
  now: Date,
): NodeView {
  return {
    id: "here",
    name: hostname(),
    role: "all",
    labels: [],
    capacity: facts.capacity,
    running: facts.running,
    version: facts.version,
    status: "live",
    lead: true,
    joined_at: facts.startedAt.toISOString(),
    heartbeat_at: now.toISOString(),
    seconds_since_beat: 0,
    skew_ms: 0,
    config_in_force: true,
    here: true,
  };
}
