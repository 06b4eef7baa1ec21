import { randomBytes } from "node:crypto";
import type { LoadedFleet } from "../../config/load.ts";
import { UserError } from "../../errors/user-error.ts";
import { machineTime } from "../../state/lease-file.ts";
import { type NewNode, type Node, peerName } from "../../state/node.ts";
import type { SharedStore } from "../../state/shared.ts";
import { Acquaintances } from "./acquaintances.ts";
import { configPrint } from "./config-print.ts";
import { doorHost } from "./door-host.ts";
import { findNode } from "./find-node.ts";
import { KeptLease } from "./kept-lease.ts";
import { LostNodes, needingCare } from "./lost-nodes.ts";
import { mayGoOn } from "./may-go-on.ts";
import type { NodeHands } from "./node-hands.ts";
import { nodeIdentity } from "./node-identity.ts";
import type { NodeOptions } from "./node-options.ts";
import { differs, refused } from "./other-config.ts";
import { type NodeWord, type Peer, PeerDoor } from "./peers.ts";
import { StoreReach } from "./store-reach.ts";
import { askPeersEvery, beatEvery } from "./terms.ts";

export interface MembershipFrame {
  shared: SharedStore;
  stateDir: string;
  node: NodeOptions & { capacity: number };
  version: string;
  loaded(): LoadedFleet;
  /** The store is there again: what could not be written may be. */
  reached(): void;
  /** What is wrong with this node; undefined when all is well again. */
  problem(message: string | undefined): void;
  trouble(message: string, cause?: unknown): void;
}

/**
 * This process as a node of a fleet on a shared store: it joins, shows that it lives, and stops in
 * time when it cannot. Everything else of the fleet is told by way of its hands.
 */
export class Membership {
  /** Of all, as the last beat told it. */
  nodes: readonly Node[] = [];
  readonly lease: KeptLease;
  private readonly door = new PeerDoor((asker) => this.word(asker));
  private readonly peers = new Acquaintances(() => ({ id: this.id, address: this.address }));
  private self: Node | undefined;
  private hands: NodeHands | undefined;
  private print: string;
  private inForce: string | undefined;
  private address: string | null = null;
  private readonly reach = new StoreReach();
  private leads = false;
  private suspended: Promise<void> | undefined;
  private returning: Promise<void> | undefined;
  private readonly others: LostNodes;
  private readonly underWay = new Set<Promise<void>>();
  private beating: Promise<void> | undefined;
  private timers: NodeJS.Timeout[] = [];
  private stopped = false;

  constructor(private readonly frame: MembershipFrame) {
    this.lease = new KeptLease(frame.stateDir);
    this.print = configPrint(frame.loaded());
    this.others = new LostNodes({
      store: frame.shared.nodes,
      ask: (node) => this.peers.ask(node),
      settle: async (node) => (await this.hands?.settleLost(node)) ?? false,
      trouble: frame.trouble,
    });
  }

  get id(): string {
    if (this.self) return this.self.id;
    throw new Error("this node has not joined");
  }

  get epoch(): number {
    return this.self?.epoch ?? 0;
  }

  get isLead(): boolean {
    return this.leads;
  }

  find(id: string): ReturnType<typeof findNode> {
    return findNode(this.nodes, id);
  }

  /** Of what was read here. */
  get configPrint(): string {
    return this.print;
  }

  /** The configuration that was read here is the one in force. */
  get isUpToDate(): boolean {
    return this.inForce === undefined || this.inForce === this.print;
  }

  /** Rejects with `node_refused` when the others run another configuration. */
  async join(): Promise<void> {
    const { host, peer_host } = this.frame.loaded().fleet.server;
    const { connectionString } = this.frame.shared;
    this.address = await this.door.open(peer_host ?? (await doorHost(host, connectionString)));
    try {
      await this.enter();
      await this.meetOthers();
    } catch (error) {
      await this.door.close();
      throw error;
    }
    this.timers = [
      setInterval(() => this.beat(), beatEvery).unref(),
      setInterval(() => this.watchOver(), askPeersEvery).unref(),
    ];
  }

  /** From now on whatever happens to nodes is acted upon. */
  serve(hands: NodeHands): void {
    this.hands = hands;
    this.beat();
  }

  /** Something was refused as a lost node's, or a record of nodes may have changed. */
  beat(): void {
    if (this.stopped || this.returning) return;
    this.beating ??= this.showLife().finally(() => {
      this.beating = undefined;
    });
  }

  /** The configuration was read anew; `rollOut` says that it is the one for all. */
  async configRead(rollOut: boolean): Promise<void> {
    this.print = configPrint(this.frame.loaded());
    if (rollOut) await this.frame.shared.nodes.rollOut(this.print);
    this.beat();
  }

  /** `quits` when nothing of it runs any more; else its lease just runs out. */
  async stop(quits: boolean): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers) clearInterval(timer);
    await this.beating;
    await this.returning;
    await Promise.all(this.underWay);
    await this.door.close();
    if (!quits) return;
    this.lease.end();
    await this.frame.shared.nodes.leave().catch(() => undefined);
  }

  private async enter(): Promise<void> {
    const { stateDir, node, version, shared } = this.frame;
    const { id, name } = await nodeIdentity(stateDir, node.name);
    const { role = "all", labels = [], capacity } = node;
    const facts: NewNode = {
      ...{ id, name, role, labels, capacity, version },
      config_print: this.print,
      address: this.address,
    };
    const sentAt = machineTime();
    const joined = await shared.nodes.join(facts, randomBytes(32).toString("hex"));
    if (joined.kind === "other_config") throw refused(this.print, joined);
    this.self = joined.node;
    this.peers.begin(joined.secret);
    this.door.know(joined.secret, joined.node.id);
    this.lease.begin(`${id}.${joined.node.epoch}`, sentAt, joined.unbroken);
    this.reach.missed();
    this.reach.heard(sentAt);
  }

  /**
   * Who else is there must be known before anything is decided by it. And each of them must know of
   * this node: one that loses the store goes on as long as it knows of nobody.
   */
  private async meetOthers(): Promise<void> {
    const sentAt = machineTime();
    this.nodes = await this.frame.shared.nodes.list();
    this.peers.list(this.nodes, sentAt);
    await this.peers.askAll();
  }

  private async showLife(): Promise<void> {
    const sentAt = machineTime();
    const running = this.hands?.running() ?? 0;
    const knows = this.peers.all.map(peerName);
    try {
      const beat = { running, sentAt: new Date(), configPrint: this.print, knows };
      const { nodes, configPrint: inForce } = await this.frame.shared.nodes.beat(beat);
      this.heard(sentAt, nodes, inForce);
      // Others judge by what is on record of it, should this be the last that they hear.
      if (this.peers.all.some((peer) => !knows.includes(peerName(peer))))
        setImmediate(() => this.beat());
    } catch (error) {
      if (isFenced(error)) this.comeBack();
      else this.unheard(error);
    }
  }

  private heard(sentAt: number, nodes: readonly Node[], inForce: string): void {
    if (this.reach.heard(sentAt)) this.frame.reached();
    this.nodes = nodes;
    this.peers.list(nodes, sentAt);
    this.self = nodes.find(({ id }) => id === this.self?.id) ?? this.self;
    this.lease.renew(sentAt);
    const wasUpToDate = this.isUpToDate;
    this.inForce = inForce;
    this.frame.problem(this.isUpToDate ? undefined : differs);
    if (!this.hands) return;
    if (wasUpToDate !== this.isUpToDate) this.inBackground(this.hands.configJudged());
    this.resume();
    this.takeLead(this.self?.lead ?? false);
    this.lookAfterOthers();
  }

  private unheard(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof UserError))
      this.frame.trouble("this node could not show that it lives", error);
    this.reach.missed(message);
    this.watchOver();
  }

  private word(asker: Peer): NodeWord {
    this.peers.askedBy(asker);
    const reaches = this.reach.tellPeer();
    return { node: this.self?.id ?? "", reaches, lives: this.lease.lives };
  }

  /** Once a second: while the store is away the peers are asked, and the lease may end. */
  private watchOver(): void {
    if (this.stopped || this.returning) return;
    if (!this.lease.lives) this.suspend();
    if (this.reach.isThere) return;
    this.reach.missed();
    this.inBackground(this.askPeers());
  }

  private async askPeers(): Promise<void> {
    const askedAt = machineTime();
    const said = await this.peers.askAll();
    if (this.reach.isThere || this.returning || !this.lease.lives) return;
    const why = this.reach.whyNot;
    if (mayGoOn(said, this.reach.sinceHeard)) {
      this.lease.renew(askedAt);
      this.frame.problem(`the store is away, for all nodes: what runs goes on (${why})`);
    } else this.frame.problem(`this node does not reach the store: ${why}`);
  }

  private suspend(): void {
    if (this.suspended || !this.hands) return;
    this.leads = false;
    this.suspended = this.hands.suspend();
    this.frame.trouble("the lease of this node has ended: what it runs is stopped");
    this.inBackground(this.suspended);
  }

  private resume(): void {
    const { suspended } = this;
    if (!suspended) return;
    this.suspended = undefined;
    this.inBackground(suspended.then(() => this.hands?.resume()));
  }

  private takeLead(isLead: boolean): void {
    if (isLead === this.leads) return;
    this.leads = isLead;
    if (this.hands) this.inBackground(this.hands.lead(isLead));
  }

  private lookAfterOthers(): void {
    const { self } = this;
    if (!self || !this.reach.mayLoseOthers) return;
    const inNeed = needingCare({
      ...{ nodes: this.nodes, self, isLead: this.leads },
      isKnownTo: (node) => this.peers.isKnownTo(node),
    });
    this.inBackground(this.others.care(inNeed));
  }

  /** Others count this node as lost: it ends what it runs, and joins as if it came anew. */
  private comeBack(): void {
    if (this.stopped) return;
    this.returning ??= this.rejoin()
      .catch((error) => this.frame.trouble("this node could not end what it runs", error))
      .finally(() => {
        this.returning = undefined;
      });
  }

  private async rejoin(): Promise<void> {
    this.lease.end();
    this.leads = false;
    this.frame.problem("other nodes count this one as lost: it ends what it runs and joins again");
    this.frame.trouble("this node was counted as lost: it ends what it runs and joins again");
    await (this.suspended ?? this.hands?.suspend());
    await this.hands?.drop();
    while (!this.stopped && !(await this.tryToEnter())) await pause(beatEvery);
    if (this.stopped) return;
    this.suspended = undefined;
    this.frame.problem(undefined);
    // It may take its time, and the node must show meanwhile that it lives.
    this.inBackground(this.meetOthers());
    if (this.hands) this.inBackground(this.hands.rejoined());
  }

  private async tryToEnter(): Promise<boolean> {
    try {
      await this.enter();
      return true;
    } catch (error) {
      this.frame.problem(error instanceof Error ? error.message : String(error));
      if (!(error instanceof UserError)) this.frame.trouble("this node cannot join again", error);
      return false;
    }
  }

  private inBackground(work: Promise<void>): void {
    const followed = work
      .catch((error) => this.frame.trouble("a matter of this node failed", error))
      .finally(() => this.underWay.delete(followed));
    this.underWay.add(followed);
  }
}

export function isFenced(error: unknown): boolean {
  return error instanceof UserError && error.code === "node_fenced";
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
