import { UserError } from "../../errors/user-error.ts";
import type { Node } from "../../state/node.ts";
import { lostAfter, onItsOwnFor } from "../../state/node-terms.ts";
import type { NodeStore } from "../../state/shared.ts";
import { mayBeOnItsOwn } from "./may-go-on.ts";
import type { NodeWord } from "./peers.ts";

export interface LostNodesFrame {
  store: Pick<NodeStore, "lose">;
  ask(node: Node): Promise<NodeWord | undefined>;
  /** What it had begun is settled; true when nothing is left of it. */
  settle(node: Node): Promise<boolean>;
  trouble(message: string, cause?: unknown): void;
}

export interface NodesInNeed {
  /** They must be called lost. */
  silent: Node[];
  /** Silent too, but maybe at work: nobody whom they know could have told them to stop. */
  onTheirOwn: Node[];
  /** Whoever called them lost may have died over it. */
  lost: Node[];
}

export function needingCare({
  nodes,
  self,
  isLead,
  isKnownTo,
}: {
  nodes: readonly Node[];
  self: Pick<Node, "id" | "heartbeat_at">;
  isLead: boolean;
  /** The node would ask this one, by what passed between them. */
  isKnownTo(node: Node): boolean;
}): NodesInNeed {
  // Our own beat is the database's now.
  const now = Date.parse(self.heartbeat_at);
  const others = nodes.filter(({ id }) => id !== self.id);
  const silentFor = ({ heartbeat_at }: Node) => now - Date.parse(heartbeat_at);
  const silent = others.filter((node) => node.status === "live" && silentFor(node) > lostAfter);
  const onTheirOwn = silent.filter(
    (node) => silentFor(node) <= onItsOwnFor && !isKnownTo(node) && mayBeOnItsOwn(node, nodes, now),
  );
  return {
    silent: silent.filter((node) => !onTheirOwn.includes(node)),
    onTheirOwn,
    lost: isLead ? others.filter(({ status }) => status === "lost") : [],
  };
}

/** Sees to nodes that are silent, each once: what it settled never comes back under that epoch. */
export class LostNodes {
  private readonly seen = new Set<string>();
  private readonly mentioned = new Set<string>();

  constructor(private readonly frame: LostNodesFrame) {}

  async care({ silent, onTheirOwn, lost }: NodesInNeed): Promise<void> {
    for (const node of onTheirOwn) {
      this.mention(node);
      // One that answers knows from then on of somebody who reaches the store, and stops.
      void this.frame.ask(node);
    }
    await Promise.all([
      ...silent.map((node) => this.once(node, () => this.lose(node))),
      ...lost.map((node) => this.once(node, () => this.frame.settle(node))),
    ]);
  }

  /** A node that can be asked and says that it lives goes on though the store has not heard of it. */
  private async lose(node: Node): Promise<boolean> {
    if ((await this.frame.ask(node))?.lives) return false;
    if (!(await this.frame.store.lose(node.id, node.epoch))) return false;
    this.frame.trouble(`node ${node.name} is lost: it was heard of last at ${node.heartbeat_at}`);
    return this.frame.settle(node);
  }

  private mention({ id, epoch, name, heartbeat_at }: Node): void {
    const key = `${id}.${epoch}`;
    if (this.mentioned.has(key)) return;
    this.mentioned.add(key);
    const minutes = onItsOwnFor / 60_000;
    this.frame.trouble(
      `node ${name} was heard of last at ${heartbeat_at}, when it knew of nobody who could take over: it may be at work, so it counts as lost after ${minutes} minutes`,
    );
  }

  private async once({ id, epoch, name }: Node, work: () => Promise<boolean>): Promise<void> {
    const key = `${id}.${epoch}`;
    if (this.seen.has(key)) return;
    this.seen.add(key);
    try {
      if (!(await work())) this.seen.delete(key);
    } catch (error) {
      this.seen.delete(key);
      if (!(error instanceof UserError))
        this.frame.trouble(`what node ${name} left cannot be settled`, error);
    }
  }
}
