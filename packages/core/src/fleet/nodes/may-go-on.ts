import { type Node, peerName } from "../../state/node.ts";
import { lostAfter, onItsOwnFor } from "../../state/node-terms.ts";
import { silentAfter } from "./terms.ts";

/** What a peer says of the store, or that it says nothing. */
export type PeerWord = "reaches" | "away" | "silent";

/**
 * Whether a node that does not reach the store may renew its lease by itself. Only when nobody can
 * take over: every peer says that it does not reach the store either. One that reaches it would
 * count this node as lost, and of one that is silent nobody knows whether it does. And not for
 * ever, since others may have joined of whom it does not know.
 */
export function mayGoOn(peers: readonly PeerWord[], sinceHeard: number): boolean {
  return sinceHeard <= onItsOwnFor - lostAfter && peers.every((word) => word === "away");
}

/**
 * Whether a silent node may have gone on by itself, by the rule above: everybody whom it knew may
 * be telling it that the store is away. Whoever reaches the store tells it otherwise, and a process
 * that is there no more tells it nothing, so that it has stopped.
 */
export function mayBeOnItsOwn(
  { knows }: Pick<Node, "knows">,
  nodes: readonly Node[],
  now: number,
): boolean {
  const isCutOff = ({ status, heartbeat_at }: Node) =>
    status === "lost" || (status === "live" && now - Date.parse(heartbeat_at) > silentAfter);
  return knows.every((name) => nodes.some((peer) => peerName(peer) === name && isCutOff(peer)));
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
