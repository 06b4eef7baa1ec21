export { connectFleet, type FleetClient } from "./client/connect-fleet.ts";
