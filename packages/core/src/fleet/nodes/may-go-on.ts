/** What a peer says of the store, or that it says nothing. */
export type PeerWord = "reaches" | "away" | "silent";

/**
 * Whether a node that does not reach the store may renew its lease by itself. Only when nobody can
 * take over: every peer says that it does not reach the store either. One that reaches it would
 * count this node as lost, and of one that is silent nobody knows whether it does.
 */
export function mayGoOn(peers: readonly PeerWord[]): boolean {
  return peers.every((word) => word === "away");
}

/**
 * Whether a node may count another as lost. The store may have been away for all: whoever reaches it
 * first would find all others without a beat, and whoever was told that this node does not reach
 * the store has renewed its lease on the strength of that.
 */
export function mayLose(facts: {
  now: number;
  /** Since when the store has answered without a gap. */
  reachedSince: number | undefined;
  /** When a peer was told last that it does not. */
  saidAwayAt: number | undefined;
  patience: number;
}): boolean {
  const { now, reachedSince, saidAwayAt, patience } = facts;
  if (reachedSince === undefined || now - reachedSince < patience) return false;
  return saidAwayAt === undefined || now - saidAwayAt >= patience;
}
