import { assertOwnership } from "@herdctl/protocol";
import type { FleetClient } from "./fleet-client.ts";
import { FleetHttpClient } from "./fleet-http-client.ts";
import { SocketFleetClient } from "./socket-fleet-client.ts";

/** Undefined if no fleet listens there. If it stops later, calls fail with `fleet_unreachable`. */
export async function connectFleet(socketPath: string): Promise<FleetClient | undefined> {
  // Another user may have taken over the path of our socket.
  // defence: socket-owner
  assertOwnership([socketPath]);
  const httpClient = new FleetHttpClient(socketPath);
  if (await httpClient.isReachable()) return new SocketFleetClient(httpClient);
  httpClient.close();
  return undefined;
}
