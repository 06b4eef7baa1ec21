import { randomBytes } from "node:crypto";
import type { LoadedFleet } from "@herdctl/config";
import { type NewNode, type Node, UserError } from "@herdctl/protocol";
import { peerName } from "@herdctl/protocol/schemas";
import type { SharedStore } from "../store/contracts/shared-store.ts";
import { uptimeMs } from "../store/files/lease-file.ts";
import { configDiffersMessage, configHash, nodeRefusedError } from "./config-hash.ts";
import { canSelfRenewLease, heartbeatIntervalMs, peerPollIntervalMs } from "./lease-policy.ts";
import { findNode } from "./list-nodes.ts";
import { findUnresponsiveNodes, LostNodeHandler } from "./lost-nodes.ts";
import { loadNodeIdentity } from "./node-identity.ts";
import { NodeLease } from "./node-lease.ts";
import type { NodeLifecycleHandlers } from "./node-lifecycle-handlers.ts";
import type { NodeOptions } from "./node-options.ts";
import { PeerRegistry } from "./peer-registry.ts";
import { type Peer, PeerServer, type PeerStatus, peerListenHost } from "./peer-server.ts";
import { StoreHealth } from "./store-health.ts";

export interface MembershipDeps {
  shared: SharedStore;
  stateDir: string;
  node: NodeOptions & { capacity: number };
  version: string;
  loaded(): LoadedFleet;
  /** The store is available again, so failed writes can be repeated. */
  onStoreReachable(): void;
  /** Reports a problem of this node; undefined when it is resolved. */
  onProblem(message: string | undefined): void;
  reportError(message: string, cause?: unknown): void;
}

/**
 * This process as a node of a fleet with a shared store. It joins, sends heartbeats, and stops its
 * jobs in time if it cannot. It controls the rest of the fleet process through its handlers.
 */
export class Membership {
  /** All nodes, as of the last heartbeat. */
  nodes: readonly Node[] = [];
  readonly lease: NodeLease;
  private readonly peerServer = new PeerServer((asker) => this.answerPeer(asker));
  private readonly peers = new PeerRegistry(() => ({ id: this.id, address: this.address }));
  private self: Node | undefined;
  private handlers: NodeLifecycleHandlers | undefined;
  private localConfigHash: string;
  private activeConfigHash: string | undefined;
  private address: string | null = null;
  private readonly storeHealth = new StoreHealth();
  private hasLeadership = false;
  private suspension: Promise<void> | undefined;
  private rejoining: Promise<void> | undefined;
  private readonly lostNodes: LostNodeHandler;
  private readonly backgroundTasks = new Set<Promise<void>>();
  private pendingHeartbeat: Promise<void> | undefined;
  private timers: NodeJS.Timeout[] = [];
  private stopped = false;

  constructor(private readonly deps: MembershipDeps) {
    this.lease = new NodeLease(deps.stateDir);
    this.localConfigHash = configHash(deps.loaded());
    this.lostNodes = new LostNodeHandler({
      store: deps.shared.nodes,
      askPeer: (node) => this.peers.askPeer(node),
      settle: async (node) => (await this.handlers?.settleLostNode(node)) ?? false,
      reportError: deps.reportError,
    });
  }

  get id(): string {
    if (this.self) return this.self.id;
    throw new Error("this node has not joined");
  }

  get epoch(): number {
    return this.self?.epoch ?? 0;
  }

  get isLeader(): boolean {
    return this.hasLeadership;
  }

  find(id: string): ReturnType<typeof findNode> {
    return findNode(this.nodes, id);
  }

  /** Hash of the configuration of this process. */
  get configHash(): string {
    return this.localConfigHash;
  }

  /** The configuration of this process is the one in force. */
  get isConfigCurrent(): boolean {
    return this.activeConfigHash === undefined || this.activeConfigHash === this.localConfigHash;
  }

  /** Rejects with `node_refused` if the other nodes run a different configuration. */
  async join(): Promise<void> {
    const { host, peer_host } = this.deps.loaded().fleet.server;
    const { connectionString } = this.deps.shared;
    this.address = await this.peerServer.listen(
      peer_host ?? (await peerListenHost(host, connectionString)),
    );
    try {
      await this.register();
      await this.discoverPeers();
    } catch (error) {
      await this.peerServer.close();
      throw error;
    }
    this.timers = [
      setInterval(() => this.heartbeat(), heartbeatIntervalMs).unref(),
      setInterval(() => this.checkLease(), peerPollIntervalMs).unref(),
    ];
  }

  /** From now on, changes of nodes are passed to the handlers. */
  setHandlers(handlers: NodeLifecycleHandlers): void {
    this.handlers = handlers;
    this.heartbeat();
  }

  /**
   * Sends a heartbeat now, because a write was refused as a lost node's, or node records may have
   * changed.
   */
  heartbeat(): void {
    if (this.stopped || this.rejoining) return;
    this.pendingHeartbeat ??= this.sendHeartbeat().finally(() => {
      this.pendingHeartbeat = undefined;
    });
  }

  /** The configuration was read again. `isRollout`: it applies to all nodes. */
  async onConfigLoaded(isRollout: boolean): Promise<void> {
    this.localConfigHash = configHash(this.deps.loaded());
    if (isRollout) await this.deps.shared.nodes.setConfigHash(this.localConfigHash);
    this.heartbeat();
  }

  /** `shouldLeave`: nothing of this node runs any more. Otherwise its lease just expires. */
  async stop(shouldLeave: boolean): Promise<void> {
    this.stopped = true;
    for (const timer of this.timers) clearInterval(timer);
    await this.pendingHeartbeat;
    await this.rejoining;
    await Promise.all(this.backgroundTasks);
    await this.peerServer.close();
    if (!shouldLeave) return;
    this.lease.release();
    await this.deps.shared.nodes.leave().catch(() => undefined);
  }

  private async register(): Promise<void> {
    const { stateDir, node, version, shared } = this.deps;
    const { id, name } = await loadNodeIdentity(stateDir, node.name);
    const { role = "all", labels = [], capacity } = node;
    const facts: NewNode = {
      ...{ id, name, role, labels, capacity, version },
      config_hash: this.localConfigHash,
      address: this.address,
    };
    const sentAt = uptimeMs();
    const joinResult = await shared.nodes.join(facts, randomBytes(32).toString("hex"));
    if (joinResult.kind === "other_config")
      throw nodeRefusedError(this.localConfigHash, joinResult);
    this.self = joinResult.node;
    this.peers.reset(joinResult.secret);
    this.peerServer.setCredentials(joinResult.secret, joinResult.node.id);
    this.lease.acquire(`${id}.${joinResult.node.epoch}`, sentAt, joinResult.wasStillLive);
    this.storeHealth.recordFailure();
    this.storeHealth.recordSuccess(sentAt);
  }

  /**
   * The node must know its peers before it decides about them, and each peer must know this node: a
   * node that loses the store continues as long as it knows no peer.
   */
  private async discoverPeers(): Promise<void> {
    const sentAt = uptimeMs();
    this.nodes = await this.deps.shared.nodes.list();
    this.peers.update(this.nodes, sentAt);
    await this.peers.askAll();
  }

  private async sendHeartbeat(): Promise<void> {
    const sentAt = uptimeMs();
    const running = this.handlers?.countRunningJobs() ?? 0;
    const knownPeers = this.peers.all.map(peerName);
    try {
      const heartbeat = {
        running,
        sentAt: new Date(),
        configHash: this.localConfigHash,
        knownPeers,
      };
      const { nodes, configHash } = await this.deps.shared.nodes.heartbeat(heartbeat);
      this.onHeartbeatOk(sentAt, nodes, configHash);
      // If the store is lost now, others decide by the known peers in the record of this node.
      if (this.peers.all.some((peer) => !knownPeers.includes(peerName(peer))))
        setImmediate(() => this.heartbeat());
    } catch (error) {
      if (isFencedError(error)) this.startRejoin();
      else this.onHeartbeatFailed(error);
    }
  }

  private onHeartbeatOk(sentAt: number, nodes: readonly Node[], activeConfigHash: string): void {
    if (this.storeHealth.recordSuccess(sentAt)) this.deps.onStoreReachable();
    this.nodes = nodes;
    this.peers.update(nodes, sentAt);
    this.self = nodes.find(({ id }) => id === this.self?.id) ?? this.self;
    this.lease.renew(sentAt);
    const wasConfigCurrent = this.isConfigCurrent;
    this.activeConfigHash = activeConfigHash;
    this.deps.onProblem(this.isConfigCurrent ? undefined : configDiffersMessage);
    if (!this.handlers) return;
    if (wasConfigCurrent !== this.isConfigCurrent)
      this.runInBackground(this.handlers.onConfigJudged());
    this.resume();
    this.setLeadership(this.self?.leader ?? false);
    this.settleLostNodes();
  }

  private onHeartbeatFailed(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (!(error instanceof UserError)) this.deps.reportError("Failed to send a heartbeat", error);
    this.storeHealth.recordFailure(message);
    this.checkLease();
  }

  private answerPeer(asker: Peer): PeerStatus {
    this.peers.recordAsker(asker);
    const reaches = this.storeHealth.reportToPeer();
    return { node: this.self?.id ?? "", reaches, lives: this.lease.isHeld };
  }

  /**
   * Runs every second. While the store is unavailable it asks the peers; it also notices the end of
   * the lease.
   */
  private checkLease(): void {
    if (this.stopped || this.rejoining) return;
    if (!this.lease.isHeld) this.suspend();
    if (this.storeHealth.isReachable) return;
    this.storeHealth.recordFailure();
    this.runInBackground(this.askPeers());
  }

  private async askPeers(): Promise<void> {
    const askedAt = uptimeMs();
    const peerStatuses = await this.peers.askAll();
    if (this.storeHealth.isReachable || this.rejoining || !this.lease.isHeld) return;
    const reason = this.storeHealth.failureReason;
    if (canSelfRenewLease(peerStatuses, this.storeHealth.msSinceReply)) {
      this.lease.renew(askedAt);
      this.deps.onProblem(
        `the store is unavailable for all nodes; running jobs continue (${reason})`,
      );
    } else this.deps.onProblem(`this node cannot reach the store: ${reason}`);
  }

  private suspend(): void {
    if (this.suspension || !this.handlers) return;
    this.hasLeadership = false;
    this.suspension = this.handlers.suspend();
    this.deps.reportError("the lease of this node has expired, so its running jobs are stopped");
    this.runInBackground(this.suspension);
  }

  private resume(): void {
    const { suspension } = this;
    if (!suspension) return;
    this.suspension = undefined;
    this.runInBackground(suspension.then(() => this.handlers?.resume()));
  }

  private setLeadership(isLeader: boolean): void {
    if (isLeader === this.hasLeadership) return;
    this.hasLeadership = isLeader;
    if (this.handlers) this.runInBackground(this.handlers.onLeadershipChanged(isLeader));
  }

  private settleLostNodes(): void {
    const { self } = this;
    if (!self || !this.storeHealth.canDeclareOthersLost) return;
    const unresponsive = findUnresponsiveNodes({
      ...{ nodes: this.nodes, self, isLeader: this.hasLeadership },
      knowsThisNode: (node) => this.peers.knowsThisNode(node),
    });
    this.runInBackground(this.lostNodes.handle(unresponsive));
  }

  /** Other nodes declared this node lost: it ends its jobs and joins again as a new node. */
  private startRejoin(): void {
    if (this.stopped) return;
    this.rejoining ??= this.stopAndRejoin()
      .catch((error) => this.deps.reportError("Failed to end the jobs of this node", error))
      .finally(() => {
        this.rejoining = undefined;
      });
  }

  private async stopAndRejoin(): Promise<void> {
    this.lease.release();
    this.hasLeadership = false;
    this.deps.onProblem("other nodes declared this one lost; it ends its jobs and joins again");
    this.deps.reportError("this node was declared lost; it ends its jobs and joins again");
    await (this.suspension ?? this.handlers?.suspend());
    await this.handlers?.dropRuns();
    while (!this.stopped && !(await this.tryRegister())) await sleep(heartbeatIntervalMs);
    if (this.stopped) return;
    this.suspension = undefined;
    this.deps.onProblem(undefined);
    // Discovery may take long, and the node must send heartbeats meanwhile.
    this.runInBackground(this.discoverPeers());
    if (this.handlers) this.runInBackground(this.handlers.onRejoined());
  }

  private async tryRegister(): Promise<boolean> {
    try {
      await this.register();
      return true;
    } catch (error) {
      this.deps.onProblem(error instanceof Error ? error.message : String(error));
      if (!(error instanceof UserError)) this.deps.reportError("Failed to join again", error);
      return false;
    }
  }

  private runInBackground(task: Promise<void>): void {
    const tracked = task
      .catch((error) => this.deps.reportError("background task of the cluster node failed", error))
      .finally(() => this.backgroundTasks.delete(tracked));
    this.backgroundTasks.add(tracked);
  }
}

export function isFencedError(error: unknown): boolean {
  return error instanceof UserError && error.code === "node_fenced";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
