export { createFleetMcpServer, type FleetMcpOptions } from "./mcp/fleet-mcp-server.ts";
export type { FleetProvider, FleetReader } from "./mcp/fleet-provider.ts";
export { serveOnStdio } from "./mcp/serve-on-stdio.ts";
