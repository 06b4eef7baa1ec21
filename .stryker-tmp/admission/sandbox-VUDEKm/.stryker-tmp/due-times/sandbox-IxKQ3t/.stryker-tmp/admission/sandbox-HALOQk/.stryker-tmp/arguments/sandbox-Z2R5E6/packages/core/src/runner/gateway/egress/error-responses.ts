import type { IncomingMessage, ServerResponse } from "node:http";
import type { Target } from "./target.ts";

/** Sent to the client instead of a connection to the requested host. */
export interface ProxyErrorResponse {
  kind: "answer";
  status: 403 | 502;
  text: string;
}

const statusMessages = { 403: "Host not allowed", 502: "Host not reachable" };

export function refusalResponse(
  target: Target,
  reason: string,
  remedy?: string,
): ProxyErrorResponse {
  const remedyLine = remedy && `To allow it, set \`${remedy}\` for this agent in the fleet file.`;
  const text = [`herdctl refused ${formatTarget(target)}: ${reason}.`, remedyLine]
    .filter(Boolean)
    .join("\n");
  return { kind: "answer", status: 403, text };
}

export function unreachableResponse(target: Target, failure: string): ProxyErrorResponse {
  const text = `herdctl could not reach ${formatTarget(target)} (${failure}).`;
  return { kind: "answer", status: 502, text };
}

export function sendErrorResponse(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text }: ProxyErrorResponse,
): void {
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, statusMessages[status], headers);
  response.end(`${text}\n`);
  request.resume();
}

/** The response as text, for CONNECT requests, which have no response object. */
export function formatRawResponse({ status, text }: ProxyErrorResponse): string {
  return [
    `HTTP/1.1 ${status} ${statusMessages[status]}`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(text) + 1}`,
    "connection: close",
    "",
    `${text}\n`,
  ].join("\r\n");
}

function formatTarget({ host, port }: Target): string {
  return port > 0 ? `${host}:${port}` : host;
}
