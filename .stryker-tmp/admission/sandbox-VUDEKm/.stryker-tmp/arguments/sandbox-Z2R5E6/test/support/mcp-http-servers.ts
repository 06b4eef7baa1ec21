import { randomUUID } from "node:crypto";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { onTestFinished } from "vitest";
import { z } from "zod";

interface HttpServer {
  url: string;
  headers: IncomingHttpHeaders[];
}

/** An HTTP MCP server with one tool that records request headers. */
export async function httpMcpServer(): Promise<HttpServer> {
  const headers: IncomingHttpHeaders[] = [];
  const url = await listen(async (request, response) => {
    headers.push(request.headers);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await createWhisperServer("http").connect(transport);
    await transport.handleRequest(request, response);
  });
  return { url, headers };
}

/** The same with sessions, which it forgets on the request `FORGET`. */
export async function sessionLosingMcpServer(): Promise<HttpServer> {
  const headers: IncomingHttpHeaders[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const clearSessions = (text: string) => {
    if (text === "FORGET") sessions.clear();
  };
  const url = await listen(async (request, response) => {
    headers.push(request.headers);
    const session = String(request.headers["mcp-session-id"] ?? "");
    if (session !== "" && !sessions.has(session)) {
      response.writeHead(404);
      response.end();
      return;
    }
    const known = sessions.get(session);
    if (known) return await known.handleRequest(request, response);
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createWhisperServer("http", clearSessions).connect(transport);
    await transport.handleRequest(request, response);
  });
  return { url, headers };
}

/**
 * The same over the older transport with one stream for all answers, which it cuts on the request
 * `CUT`.
 */
export async function sseMcpServer(): Promise<HttpServer> {
  const headers: IncomingHttpHeaders[] = [];
  const sessions = new Map<string, SSEServerTransport>();
  const url = await listen(async (request, response) => {
    headers.push(request.headers);
    const session = new URL(request.url ?? "", "http://localhost").searchParams.get("sessionId");
    const known = sessions.get(session ?? "");
    if (known) return await known.handlePostMessage(request, response);
    const transport = new SSEServerTransport("/mcp", response);
    sessions.set(transport.sessionId, transport);
    const closeStream = (text: string) => {
      if (text === "CUT") response.destroy();
    };
    await createWhisperServer("sse", closeStream).connect(transport);
  });
  return { url, headers };
}

/** Lets `onCall` answer every tool call and handles the rest normally. */
export async function brokenMcpServer(
  onCall: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string }> {
  const url = await listen(async (request, response) => {
    const body = await readBody(request);
    if (body.includes('"tools/call"')) return onCall(request, response);
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    await createWhisperServer("http").connect(transport);
    await transport.handleRequest(request, response, body === "" ? undefined : JSON.parse(body));
  });
  return { url };
}

function createWhisperServer(
  transportName: string,
  onText: (text: string) => void = () => undefined,
): McpServer {
  const server = new McpServer({ name: "whisper", version: "1.0.0" });
  server.registerTool("whisper", { inputSchema: { text: z.string() } }, ({ text }) => {
    onText(text);
    return { content: [{ type: "text", text: `${text.toLowerCase()} by ${transportName}` }] };
  });
  return server;
}

async function listen(listener: RequestListener): Promise<string> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const { port } = http.address() as AddressInfo;
  return `http://127.0.0.1:${port}/mcp`;
}

async function readBody(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request.setEncoding("utf8")) body += chunk;
  return body;
}
