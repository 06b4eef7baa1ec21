import { assertOwned } from "@herdctl/core/light";
import type { FleetClient } from "./fleet-client.ts";
import { SocketFleet } from "./socket-fleet.ts";
import { Wire } from "./wire.ts";

/** Undefined when nobody answers there. A fleet that goes away later is `fleet_unreachable`. */
export async function connectFleet(socketPath: string): Promise<FleetClient | undefined> {
  // Another user may listen where our fleet once did.
  assertOwned([socketPath]);
  const wire = new Wire(socketPath);
  if (await wire.reaches()) return new SocketFleet(wire);
  wire.close();
  return undefined;
}
