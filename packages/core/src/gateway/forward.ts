import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, pipeline } from "node:stream";
import type { GatewayCredential } from "./credential.ts";
import { clientHeaders, upstreamHeaders } from "./headers.ts";
import type { Mask } from "./mask.ts";
import type { Exchange } from "./meter.ts";
import { answerError } from "./refusal.ts";
import type { Upstream } from "./upstream.ts";

export interface Forwarding {
  upstream: Upstream;
  credential: GatewayCredential;
  mask: Mask;
  exchange: Exchange;
  path: string;
  open: boolean;
  /** What goes up in place of what the client sends. */
  body?: Buffer;
}

/**
 * Passes a request up and its answer down as they stream. When one side goes, the other is cut:
 * an answer that broke off must never look complete.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, credential, mask, exchange, path, open, body }: Forwarding,
): void {
  const headers = {
    ...upstreamHeaders(request.headers, upstream.url.host, credential, open),
    ...(body && bodyHeaders(body)),
  };
  const outgoing = upstream.request(request.method ?? "GET", path, headers);
  let answered = false;

  response.once("close", () => {
    if (!response.writableFinished) exchange.end("client_gone");
    outgoing.destroy();
  });
  outgoing.once("response", (incoming) => {
    answered = true;
    passDown(incoming, response, exchange, mask);
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    // An early answer may be followed by a reset of the unread request: the answer counts.
    if (answered) return;
    exchange.end("unreachable", error.code);
    if (!response.destroyed) {
      answerError(
        response,
        502,
        `the API could not be reached (${error.code ?? "no reason given"})`,
      );
    }
  });
  if (body === undefined) {
    passUp(request, outgoing, exchange);
  } else {
    if (body.length > 0) exchange.up(body);
    outgoing.end(body);
    request.resume();
  }
}

/** A client's word on the type could have the same bytes read differently. */
function bodyHeaders(body: Buffer): Record<string, string | number> {
  if (body.length === 0) return { "content-length": 0 };
  return { "content-type": "application/json", "content-length": body.length };
}

function passUp(request: IncomingMessage, outgoing: ClientRequest, exchange: Exchange): void {
  const tap = new PassThrough();
  tap.on("data", (chunk: Buffer) => exchange.up(chunk));
  // Both ends report their own errors; the callback keeps them from being thrown.
  pipeline(request, tap, outgoing, () => undefined);
}

function passDown(
  incoming: IncomingMessage,
  response: ServerResponse,
  exchange: Exchange,
  mask: Mask,
): void {
  const status = incoming.statusCode ?? 502;
  exchange.responded(status, incoming.headers);
  response.writeHead(
    status,
    clientHeaders(incoming.headers, (text) => mask.text(text)),
  );
  response.flushHeaders();
  incoming.once("error", () => exchange.end("cut"));
  incoming.on("data", (chunk: Buffer) => exchange.down(chunk));
  pipeline(incoming, mask.stream(), response, (error) => {
    if (!error) exchange.end("complete");
  });
}
