import type { RunDoors } from "../runner/own-tools.ts";
import type { RunOrder } from "../runner/run-order.ts";
import type { SendErrand } from "../state/errand.ts";

/** What the tools of one run are given to work with; they reach nothing else. */
export interface HerdDoors extends RunDoors {
  order: RunOrder;
  jobDir: string;
  stateDir: string;
  /** What only the fleet can do; undefined where a run has none. */
  errand?: SendErrand;
}
