import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { createFleetMcpServer, type FleetMcpOptions } from "../fleet-mcp-server.ts";

/** Handles each request with a new server. There is no state between requests, so a restart loses nothing. */
export async function handleMcpRequest(
  request: Request,
  body: unknown,
  options: FleetMcpOptions,
): Promise<Response> {
  const server = createFleetMcpServer(options);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const aborted = new Promise<Response>((resolve) => {
    request.signal.addEventListener("abort", () => resolve(new Response(null, { status: 499 })));
  });
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), aborted]);
  } finally {
    await server.close();
  }
}
