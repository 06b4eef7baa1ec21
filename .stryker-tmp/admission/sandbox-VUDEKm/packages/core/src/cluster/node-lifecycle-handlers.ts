import type { Node } from "@herdctl/protocol";

/** How membership controls the rest of the fleet process. None of these may reject. */
export interface NodeLifecycleHandlers {
  /** Number of jobs that run here. */
  countRunningJobs(): number;
  /** Starts nothing while the lease is lost. */
  suspend(): Promise<void>;
  resume(): void;
  /** Ends all runs without recording anything, because other nodes may have taken over. */
  dropRuns(): Promise<void>;
  /** The node has joined again after it was declared lost. */
  onRejoined(): Promise<void>;
  /** Settles what another node had started; resolves with true when nothing is left. */
  settleLostNode(node: Node): Promise<boolean>;
  onLeadershipChanged(isLeader: boolean): Promise<void>;
  /** The configuration of this node has come into force, or a different one has. */
  onConfigJudged(): Promise<void>;
}
