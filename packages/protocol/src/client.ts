/** The client of a running fleet. Loads no schemas, so that commands start quickly. */
export { connectFleet, type FleetAddress } from "./client/connect-fleet.ts";
export type { FleetClient } from "./client/remote-fleet.ts";
