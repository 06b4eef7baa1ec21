import { UserError } from "../../errors/user-error.ts";
import type { Node } from "../../state/node.ts";
import { lostAfter } from "../../state/node-terms.ts";
import type { NodeStore } from "../../state/shared.ts";
import type { NodeWord } from "./peers.ts";

export interface LostNodesFrame {
  store: Pick<NodeStore, "lose">;
  ask(node: Node): Promise<NodeWord | undefined>;
  /** What it had begun is settled; true when nothing is left of it. */
  settle(node: Node): Promise<boolean>;
  trouble(message: string, cause?: unknown): void;
}

/** Which nodes must be called lost, and which of the lost ones somebody has to see to. */
export function needingCare(
  nodes: readonly Node[],
  self: Pick<Node, "id" | "heartbeat_at">,
  isLead: boolean,
): { silent: Node[]; lost: Node[] } {
  // Our own beat is the database's now.
  const now = Date.parse(self.heartbeat_at);
  const others = nodes.filter(({ id }) => id !== self.id);
  const isSilent = ({ heartbeat_at }: Node) => now - Date.parse(heartbeat_at) > lostAfter;
  return {
    silent: others.filter((node) => node.status === "live" && isSilent(node)),
    // Whoever called it lost may have died over it.
    lost: isLead ? others.filter(({ status }) => status === "lost") : [],
  };
}

/** Sees to nodes that are silent, each once: what it settled never comes back under that epoch. */
export class LostNodes {
  private readonly seen = new Set<string>();

  constructor(private readonly frame: LostNodesFrame) {}

  async care({ silent, lost }: { silent: Node[]; lost: Node[] }): Promise<void> {
    await Promise.all([
      ...silent.map((node) => this.once(node, () => this.lose(node))),
      ...lost.map((node) => this.once(node, () => this.frame.settle(node))),
    ]);
  }

  /** A node that can be asked and says that it lives goes on though the store has not heard of it. */
  private async lose(node: Node): Promise<boolean> {
    if ((await this.frame.ask(node))?.lives) return false;
    if (!(await this.frame.store.lose(node.id, node.epoch))) return false;
    const patience = lostAfter / 1000;
    this.frame.trouble(`node ${node.name} is lost: nothing was heard of it for ${patience} s`);
    return this.frame.settle(node);
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
