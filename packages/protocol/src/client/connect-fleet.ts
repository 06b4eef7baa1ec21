import { join } from "node:path";
import { stateDirOf } from "./find-fleet.ts";
import { FleetHttpClient } from "./http-transport.ts";
import { assertOwnership } from "./path-ownership.ts";
import { type FleetClient, RemoteFleet } from "./remote-fleet.ts";

/**
 * A fleet on this machine, by its file or its socket; or a fleet anywhere, by the URL of its HTTP
 * server and a token.
 */
export type FleetAddress =
  | { file: string }
  | { socketPath: string }
  | { url: string; token: string };

/**
 * Connects to a running fleet. Undefined if no fleet listens there. If it stops later, calls fail
 * with `fleet_unreachable`.
 */
export async function connectFleet(address: FleetAddress): Promise<FleetClient | undefined> {
  const target =
    "file" in address ? { socketPath: join(stateDirOf(address.file), "herdctl.sock") } : address;
  // Another user may have taken over the path of our socket.
  // defence: socket-owner
  if ("socketPath" in target) assertOwnership([target.socketPath]);
  const httpClient = new FleetHttpClient(target);
  try {
    if (await httpClient.isReachable()) return new RemoteFleet(httpClient);
  } catch (error) {
    httpClient.close();
    throw error;
  }
  httpClient.close();
  return undefined;
}
