import { hostname } from "node:os";
import type { Node, NodeView } from "@herdctl/protocol";
import type { SharedStore } from "../store/contracts/shared-store.ts";
import { readNodeId } from "./node-identity.ts";

export interface NodeListSource {
  stateDir: string;
  shared?: SharedStore;
}

/** Nodes that left longer ago are not listed. */
const maxGoneAgeSeconds = 7 * 86_400;

/** All live nodes, and those that left or were lost recently. */
export async function listNodes(
  { stateDir, shared }: NodeListSource,
  now: Date,
): Promise<NodeView[]> {
  if (!shared) return [];
  const [nodes, configHash] = [await shared.nodes.list(), await shared.nodes.configHash()];
  const views = toNodeViews(nodes, { self: readNodeId(stateDir), configHash, now });
  return views.filter(
    ({ status, seconds_since_heartbeat }) =>
      status === "live" || seconds_since_heartbeat < maxGoneAgeSeconds,
  );
}

/** The only node of a fleet with an embedded database. */
export function viewSingleNode(
  facts: { running: number; capacity: number; version: string; startedAt: Date },
  now: Date,
): NodeView {
  return {
    id: "self",
    name: hostname(),
    role: "all",
    labels: [],
    capacity: facts.capacity,
    running: facts.running,
    version: facts.version,
    status: "live",
    leader: true,
    joined_at: facts.startedAt.toISOString(),
    heartbeat_at: now.toISOString(),
    seconds_since_heartbeat: 0,
    clock_skew_ms: 0,
    config_current: true,
    self: true,
  };
}

function toNodeViews(
  nodes: readonly Node[],
  {
    self,
    configHash,
    now,
  }: { self: string | undefined; configHash: string | undefined; now: Date },
): NodeView[] {
  return nodes.map(
    ({ config_hash, address: _address, epoch: _epoch, known_peers: _knownPeers, ...node }) => ({
      ...node,
      // Heartbeats have the time of the database, whose clock may be ahead.
      seconds_since_heartbeat: Math.max(0, (now.getTime() - Date.parse(node.heartbeat_at)) / 1000),
      config_current: config_hash === configHash,
      self: node.id === self,
    }),
  );
}

/**
 * Name of another node, and whether it is gone. Unknown nodes count as gone, except before the
 * first heartbeat, when no node is known.
 */
export function findNode(
  nodes: readonly Pick<Node, "id" | "name" | "status">[],
  id: string,
): { name: string; isGone: boolean } {
  const node = nodes.find((candidate) => candidate.id === id);
  return { name: node?.name ?? id, isGone: nodes.length > 0 && node?.status !== "live" };
}
