/** The client of a running fleet. Loads no schemas, so that commands start quickly. */
export {
  connectFleet,
  type FleetAddress,
  type FleetClient,
} from "./client/connect-fleet.ts";
