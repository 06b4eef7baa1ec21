import type { NodeRole } from "@herdctl/protocol";

/** Options for a node of a fleet with a shared store. */
export interface NodeOptions {
  /** Default: `all`. */
  role?: NodeRole;
  /** Labels that agents may require with `runs_on`. */
  labels?: string[];
  /** Default: the name of the machine. */
  name?: string;
  /** Maximum number of jobs at the same time. Default: the fleet's `max_concurrent`. */
  capacity?: number;
}
