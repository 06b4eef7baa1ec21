import type { Node } from "@herdctl/protocol";
import { peerName } from "@herdctl/protocol/schemas";
import { lostAfterMs, maxSelfRenewalMs } from "../store/model/lease-terms.ts";

/** Whether a peer reaches the store: yes, no, or no answer. */
export type PeerStoreStatus = "reaches" | "away" | "silent";

/**
 * Whether a node that does not reach the store may renew its lease itself. It may only while no
 * other node can take over: every peer reports that it does not reach the store either. A peer that
 * reaches the store would declare this node lost, and a silent peer may reach it. The time is
 * limited, because unknown nodes may have joined.
 */
export function canSelfRenewLease(
  peerStatuses: readonly PeerStoreStatus[],
  msSinceStoreReply: number,
): boolean {
  return (
    msSinceStoreReply <= maxSelfRenewalMs - lostAfterMs &&
    peerStatuses.every((status) => status === "away")
  );
}

/**
 * Whether a silent node may still be running by the rule above, because every peer it knew may be
 * reporting that the store is unavailable. A peer that reaches the store reports otherwise, and a
 * peer that has ended reports nothing, so the node would have stopped.
 */
export function mayStillBeRunning(
  { known_peers: knownPeers }: Pick<Node, "known_peers">,
  nodes: readonly Node[],
  now: number,
): boolean {
  const isCutOff = ({ status, heartbeat_at }: Node) =>
    status === "lost" || (status === "live" && now - Date.parse(heartbeat_at) > silentAfterMs);
  return knownPeers.every((name) =>
    nodes.some((peer) => peerName(peer) === name && isCutOff(peer)),
  );
}

/**
 * Whether a node may declare another one lost. After an outage of the store, the first node that
 * reaches it again finds old heartbeats of all others. And a peer may have renewed its lease
 * because this node reported that it does not reach the store.
 */
export function canDeclareLost(facts: {
  now: number;
  /** Since when the store has answered without interruption. */
  reachableSince: number | undefined;
  /** When this node last told a peer that the store is unavailable. */
  reportedAwayAt: number | undefined;
  graceMs: number;
}): boolean {
  const { now, reachableSince, reportedAwayAt, graceMs } = facts;
  if (reachableSince === undefined || now - reachableSince < graceMs) return false;
  return reportedAwayAt === undefined || now - reportedAwayAt >= graceMs;
}

export const heartbeatIntervalMs = 2_000;

/** After this time without an answer of the store, a node asks its peers. */
export const silentAfterMs = 3_500;

export const peerPollIntervalMs = 1_000;

/** A peer that takes longer counts as silent. */
export const peerTimeoutMs = 800;
