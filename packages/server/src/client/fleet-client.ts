import type { FleetControl } from "@herdctl/core";

/** A fleet reached over its socket; whoever got one closes it. */
export interface FleetClient extends FleetControl {
  close(): void;
}
