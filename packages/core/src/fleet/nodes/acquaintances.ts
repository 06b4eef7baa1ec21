import { machineTime } from "../../state/lease-file.ts";
import { type Node, peerName } from "../../state/node.ts";
import { lostAfter } from "../../state/node-terms.ts";
import type { PeerWord } from "./may-go-on.ts";
import { askPeer, type NodeWord, type Peer } from "./peers.ts";

/** Whom this node asks when it does not reach the store, and who is known to ask it. */
export class Acquaintances {
  private listed: readonly Peer[] = [];
  private readonly askers = new Map<string, { peer: Peer; at: number }>();
  private readonly knowUsSince = new Map<string, number>();
  private secret = "";

  constructor(
    private readonly self: () => Peer,
    private readonly now: () => number = machineTime,
  ) {}

  /** This node has joined: as whom it was known before nobody asks it any more. */
  begin(secret: string): void {
    this.secret = secret;
    this.knowUsSince.clear();
  }

  /** Who lived by the store's answer to a question of that time. */
  list(nodes: readonly Node[], sentAt: number): void {
    const { id: own } = this.self();
    this.listed = nodes.filter(({ id, status }) => status === "live" && id !== own);
    // Whoever asked has joined before: a later list has it.
    for (const [name, { at }] of this.askers) if (at < sentAt) this.askers.delete(name);
  }

  /** One that joined while this node did not reach the store may be known by its questions only. */
  askedBy(peer: Peer): void {
    this.askers.set(peerName(peer), { peer, at: this.now() });
  }

  get all(): Peer[] {
    const askers = [...this.askers.values()].map(({ peer }) => peer);
    return [...new Map([...this.listed, ...askers].map((peer) => [peerName(peer), peer])).values()];
  }

  /** It knows this node for so long that whatever it did when it knew of nobody is over. */
  isKnownTo(peer: Peer): boolean {
    const since = this.knowUsSince.get(peerName(peer));
    return since !== undefined && this.now() - since >= lostAfter;
  }

  async ask(peer: Peer): Promise<NodeWord | undefined> {
    const word = await askPeer(peer, this.secret, this.self());
    const name = peerName(peer);
    if (word && !this.knowUsSince.has(name)) this.knowUsSince.set(name, this.now());
    return word;
  }

  /** Also makes this node known to all who answer. */
  async askAll(): Promise<PeerWord[]> {
    const words = await Promise.all(this.all.map((peer) => this.ask(peer)));
    return words.map((word) => (word ? (word.reaches ? "reaches" : "away") : "silent"));
  }
}
