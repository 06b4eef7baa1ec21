import type { NodeRole } from "../../state/node.ts";

/** What whoever starts a node of a fleet on a shared store says of it. */
export interface NodeOptions {
  /** `all` when not said. */
  role?: NodeRole;
  /** What agents may ask for by `runs_on`. */
  labels?: string[];
  /** The name of the machine when not said. */
  name?: string;
  /** Jobs at once; as the fleet's `max_concurrent` when not said. */
  capacity?: number;
}
