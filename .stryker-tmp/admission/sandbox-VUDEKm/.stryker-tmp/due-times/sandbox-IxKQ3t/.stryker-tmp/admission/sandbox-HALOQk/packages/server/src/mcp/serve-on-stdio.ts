import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { createFleetMcpServer, type FleetMcpOptions } from "./fleet-mcp-server.ts";

/** Serves MCP on standard input and output until the client closes them or the signal is aborted. */
export async function serveOnStdio(options: FleetMcpOptions, signal: AbortSignal): Promise<void> {
  const server = createFleetMcpServer(options);
  const { stdin, stdout } = process;
  const closed = new Promise<void>((resolve) => {
    stdin.once("end", resolve);
    stdin.once("close", resolve);
    stdout.once("error", () => resolve());
    server.server.onclose = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await closed;
  await server.close();
}
