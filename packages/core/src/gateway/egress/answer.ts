import type { IncomingMessage, ServerResponse } from "node:http";
import type { Target } from "./target.ts";

/** What a client is told in place of the host that it asked for. */
export interface ProxyAnswer {
  kind: "answer";
  status: 403 | 502;
  text: string;
}

const phrases = { 403: "Not open to this agent", 502: "Host not reached" };

export function refusalAnswer(target: Target, reason: string, remedy?: string): ProxyAnswer {
  const line = remedy && `To open it, write \`${remedy}\` for this agent in the fleet file.`;
  const text = [`herdctl refuses ${nameOf(target)}: ${reason}.`, line].filter(Boolean).join("\n");
  return { kind: "answer", status: 403, text };
}

export function unreachableAnswer(target: Target, failure: string): ProxyAnswer {
  const text = `herdctl could not reach ${nameOf(target)} (${failure}).`;
  return { kind: "answer", status: 502, text };
}

export function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, text }: ProxyAnswer,
): void {
  const headers = { "content-type": "text/plain; charset=utf-8", connection: "close" };
  response.writeHead(status, phrases[status], headers);
  response.end(`${text}\n`);
  request.resume();
}

/** The same before a tunnel, where no response object exists. */
export function rawAnswer({ status, text }: ProxyAnswer): string {
  return [
    `HTTP/1.1 ${status} ${phrases[status]}`,
    "content-type: text/plain; charset=utf-8",
    `content-length: ${Buffer.byteLength(text) + 1}`,
    "connection: close",
    "",
    `${text}\n`,
  ].join("\r\n");
}

function nameOf({ host, port }: Target): string {
  return port > 0 ? `${host}:${port}` : host;
}
