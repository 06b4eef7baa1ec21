import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { type FleetMcpOptions, fleetMcpServer } from "../fleet-mcp-server.ts";

/** One request, one server: nothing is remembered between requests, so a restart loses nothing. */
export async function answerMcp(
  request: Request,
  body: unknown,
  options: FleetMcpOptions,
): Promise<Response> {
  const server = fleetMcpServer(options);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  const left = new Promise<Response>((resolve) => {
    request.signal.addEventListener("abort", () => resolve(new Response(null, { status: 499 })));
  });
  try {
    return await Promise.race([transport.handleRequest(request, { parsedBody: body }), left]);
  } finally {
    await server.close();
  }
}
