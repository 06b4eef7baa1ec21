import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { type FleetMcpOptions, fleetMcpServer } from "./fleet-mcp-server.ts";

/** Serves on standard input and output until the client closes them, or the signal says so. */
export async function serveOnStdio(options: FleetMcpOptions, signal: AbortSignal): Promise<void> {
  const server = fleetMcpServer(options);
  const { stdin, stdout } = process;
  const over = new Promise<void>((resolve) => {
    stdin.once("end", resolve);
    stdin.once("close", resolve);
    stdout.once("error", () => resolve());
    server.server.onclose = resolve;
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport());
  await over;
  await server.close();
}
