import type { Node } from "../../state/node.ts";

/** What a node makes the rest of its fleet process do. None of it may reject. */
export interface NodeHands {
  /** Jobs that are at work here. */
  running(): number;
  /** Nothing is begun while the lease is gone. */
  suspend(): Promise<void>;
  resume(): void;
  /** Others may have taken over: what runs here is ended, and nothing of it is recorded. */
  drop(): Promise<void>;
  /** The node is back after it was counted as lost. */
  rejoined(): Promise<void>;
  /** What another node had begun is settled; true when nothing is left of it. */
  settleLost(node: Node): Promise<boolean>;
  lead(isLead: boolean): Promise<void>;
  /** What was read here has come into force, or another configuration has. */
  configJudged(): Promise<void>;
}
