import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { onTestFinished } from "vitest";
import { z } from "zod";

/** An HTTP MCP server with one tool; it remembers the headers it was asked with. */
export async function httpMcpServer(): Promise<{ url: string; headers: IncomingHttpHeaders[] }> {
  const headers: IncomingHttpHeaders[] = [];
  const http = createServer(async (request, response) => {
    headers.push(request.headers);
    const server = new McpServer({ name: "whisper", version: "1.0.0" });
    server.registerTool("whisper", { inputSchema: { text: z.string() } }, ({ text }) => ({
      content: [{ type: "text", text: `${text.toLowerCase()} by http` }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await server.connect(transport);
    await transport.handleRequest(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, headers };
}
