import type { Environment } from "../config/environment.ts";
import type { Fleet } from "../config/load.ts";
import type { SparePool } from "../runner-process/spare.ts";
import type { Outcome } from "../state/outcome.ts";
import type { StateManager } from "../state/state-manager.ts";
import type { ApprovalBoard } from "./approval-board.ts";
import type { EventHub } from "./event-hub.ts";
import type { SpareContainers } from "./spare-containers.ts";

/** What the parts of a running fleet share. */
export interface FleetContext {
  readonly state: StateManager;
  readonly hub: EventHub;
  readonly spares: SparePool;
  readonly spareContainers: SpareContainers;
  readonly board: ApprovalBoard;
  /** The configuration in force; a reload replaces it, jobs under way keep theirs. */
  fleet(): Fleet;
  environment(): Environment;
  /** Somebody wants to see the model speak, and not only what it said. */
  isWatched(jobId: string): boolean;
  /** An attempt is over and recorded. */
  concluded(agent: string, outcome: Outcome): Promise<void>;
  /** Whether the state takes what is written to it, and why not. */
  writable(problem: string | undefined): void;
  /** For what a person should know but no job record tells. */
  trouble(message: string, cause?: unknown): void;
}
