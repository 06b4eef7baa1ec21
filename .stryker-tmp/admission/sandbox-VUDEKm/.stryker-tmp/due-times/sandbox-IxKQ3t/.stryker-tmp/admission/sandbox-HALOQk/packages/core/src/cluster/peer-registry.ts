import type { Node } from "@herdctl/protocol";
import { peerName } from "@herdctl/protocol/schemas";
import { uptimeMs } from "../store/files/lease-file.ts";
import { lostAfterMs } from "../store/model/lease-terms.ts";
import type { PeerStoreStatus } from "./lease-policy.ts";
import { type Peer, type PeerStatus, requestPeerStatus } from "./peer-server.ts";

/**
 * The peers that this node asks when it does not reach the store, and the peers that know this
 * node.
 */
export class PeerRegistry {
  private livePeers: readonly Peer[] = [];
  private readonly recentAskers = new Map<string, { peer: Peer; askedAt: number }>();
  private readonly knownToPeerSince = new Map<string, number>();
  private secret = "";

  constructor(
    private readonly self: () => Peer,
    private readonly now: () => number = uptimeMs,
  ) {}

  /** Reset after (re)joining: peers no longer contact this node under its previous epoch. */
  reset(secret: string): void {
    this.secret = secret;
    this.knownToPeerSince.clear();
  }

  /** Updates the live nodes from a reply of the store to a request of that time. */
  update(nodes: readonly Node[], sentAt: number): void {
    const { id: selfId } = this.self();
    this.livePeers = nodes.filter(({ id, status }) => status === "live" && id !== selfId);
    // A peer that asked before has joined before, so the list contains it.
    for (const [name, { askedAt }] of this.recentAskers)
      if (askedAt < sentAt) this.recentAskers.delete(name);
  }

  /** A node that joined while this one could not reach the store is known only by its requests. */
  recordAsker(peer: Peer): void {
    this.recentAskers.set(peerName(peer), { peer, askedAt: this.now() });
  }

  get all(): Peer[] {
    const recentAskers = [...this.recentAskers.values()].map(({ peer }) => peer);
    return [
      ...new Map(
        [...this.livePeers, ...recentAskers].map((peer) => [peerName(peer), peer]),
      ).values(),
    ];
  }

  /** The peer has known this node long enough: its lease from before that has expired. */
  knowsThisNode(peer: Peer): boolean {
    const since = this.knownToPeerSince.get(peerName(peer));
    return since !== undefined && this.now() - since >= lostAfterMs;
  }

  async askPeer(peer: Peer): Promise<PeerStatus | undefined> {
    const status = await requestPeerStatus(peer, this.secret, this.self());
    const name = peerName(peer);
    if (status && !this.knownToPeerSince.has(name)) this.knownToPeerSince.set(name, this.now());
    return status;
  }

  /** Also makes this node known to all peers that answer. */
  async askAll(): Promise<PeerStoreStatus[]> {
    const statuses = await Promise.all(this.all.map((peer) => this.askPeer(peer)));
    return statuses.map((status) => (status ? (status.reaches ? "reaches" : "away") : "silent"));
  }
}
