export { connectFleet } from "./client/connect-fleet.ts";
export type { FleetClient } from "./client/fleet-client.ts";
