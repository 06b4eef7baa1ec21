import type { RunDoors } from "../runner/own-tools.ts";
import type { RunOrder } from "../runner/run-order.ts";

/** What the tools of one run are given to work with; they reach nothing else. */
export interface HerdDoors extends RunDoors {
  order: RunOrder;
  jobDir: string;
  stateDir: string;
}
