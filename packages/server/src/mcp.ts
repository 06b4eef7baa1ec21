export { type FleetMcpOptions, fleetMcpServer } from "./mcp/fleet-mcp-server.ts";
export type { FleetReading, FleetRoad } from "./mcp/fleet-road.ts";
export { serveOnStdio } from "./mcp/serve-on-stdio.ts";
