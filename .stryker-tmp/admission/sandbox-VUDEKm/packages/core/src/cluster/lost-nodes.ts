import { type Node, UserError } from "@herdctl/protocol";
import type { NodeStore } from "../store/contracts/shared-store.ts";
import { lostAfterMs, maxSelfRenewalMs } from "../store/model/lease-terms.ts";
import { mayStillBeRunning } from "./lease-policy.ts";
import type { PeerStatus } from "./peer-server.ts";

export interface LostNodesDeps {
  store: Pick<NodeStore, "markLost">;
  askPeer(node: Node): Promise<PeerStatus | undefined>;
  /** Settles what the node had started; resolves with true when nothing is left. */
  settle(node: Node): Promise<boolean>;
  reportError(message: string, cause?: unknown): void;
}

export interface UnresponsiveNodes {
  /** Nodes to declare lost. */
  silent: Node[];
  /** Silent nodes that may still be running, because no known peer could have told them to stop. */
  possiblyRunning: Node[];
  /** Nodes that are already lost. The node that declared them lost may have died since. */
  lost: Node[];
}

export function findUnresponsiveNodes({
  nodes,
  self,
  isLeader,
  knowsThisNode,
}: {
  nodes: readonly Node[];
  self: Pick<Node, "id" | "heartbeat_at">;
  isLeader: boolean;
  /** The other node knows this node as a peer, so it would ask it. */
  knowsThisNode(node: Node): boolean;
}): UnresponsiveNodes {
  // The own heartbeat has the current time of the database.
  const now = Date.parse(self.heartbeat_at);
  const others = nodes.filter(({ id }) => id !== self.id);
  const silentMs = ({ heartbeat_at }: Node) => now - Date.parse(heartbeat_at);
  const silent = others.filter((node) => node.status === "live" && silentMs(node) > lostAfterMs);
  const possiblyRunning = silent.filter(
    (node) =>
      silentMs(node) <= maxSelfRenewalMs &&
      !knowsThisNode(node) &&
      mayStillBeRunning(node, nodes, now),
  );
  return {
    silent: silent.filter((node) => !possiblyRunning.includes(node)),
    possiblyRunning,
    lost: isLeader ? others.filter(({ status }) => status === "lost") : [],
  };
}

/** Handles silent nodes, each epoch once: a settled node never returns with the same epoch. */
export class LostNodeHandler {
  private readonly handled = new Set<string>();
  private readonly warned = new Set<string>();

  constructor(private readonly deps: LostNodesDeps) {}

  async handle({ silent, possiblyRunning, lost }: UnresponsiveNodes): Promise<void> {
    for (const node of possiblyRunning) {
      this.warnOnce(node);
      // A node that answers now knows a peer that reaches the store, and stops.
      void this.deps.askPeer(node);
    }
    await Promise.all([
      ...silent.map((node) => this.handleOnce(node, () => this.declareLost(node))),
      ...lost.map((node) => this.handleOnce(node, () => this.deps.settle(node))),
    ]);
  }

  /**
   * A node that confirms that its lease is held continues, although the store has no recent
   * heartbeat.
   */
  private async declareLost(node: Node): Promise<boolean> {
    if ((await this.deps.askPeer(node))?.lives) return false;
    if (!(await this.deps.store.markLost(node.id, node.epoch))) return false;
    this.deps.reportError(
      `node ${node.name} is lost; its last heartbeat was at ${node.heartbeat_at}`,
    );
    return this.deps.settle(node);
  }

  private warnOnce({ id, epoch, name, heartbeat_at }: Node): void {
    const key = `${id}.${epoch}`;
    if (this.warned.has(key)) return;
    this.warned.add(key);
    const minutes = maxSelfRenewalMs / 60_000;
    this.deps.reportError(
      `node ${name} sent its last heartbeat at ${heartbeat_at} and knew no peer that could take over. It may still be running, so it counts as lost after ${minutes} minutes`,
    );
  }

  private async handleOnce({ id, epoch, name }: Node, work: () => Promise<boolean>): Promise<void> {
    const key = `${id}.${epoch}`;
    if (this.handled.has(key)) return;
    this.handled.add(key);
    try {
      if (!(await work())) this.handled.delete(key);
    } catch (error) {
      this.handled.delete(key);
      if (!(error instanceof UserError))
        this.deps.reportError(`Failed to settle jobs of node ${name}`, error);
    }
  }
}
