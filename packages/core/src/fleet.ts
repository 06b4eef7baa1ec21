export { FleetManager } from "./fleet/fleet-manager.ts";
