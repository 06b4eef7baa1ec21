import type { FleetControl } from "@herdctl/core";

export interface FleetClient extends FleetControl {
  close(): void;
}

/** Undefined when nobody answers there. A fleet that goes away later is `fleet_unreachable`. */
export async function connectFleet(_socketPath: string): Promise<FleetClient | undefined> {
  return undefined;
}
