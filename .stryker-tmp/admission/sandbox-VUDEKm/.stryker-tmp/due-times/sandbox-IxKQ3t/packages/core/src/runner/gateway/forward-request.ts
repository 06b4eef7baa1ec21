import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";
import { PassThrough, pipeline } from "node:stream";
import type { GatewayCredential } from "./credential.ts";
import type { CredentialMask } from "./credential-mask.ts";
import { clientHeaders, upstreamHeaders } from "./headers.ts";
import { sendApiError } from "./send-api-error.ts";
import type { Exchange } from "./traffic-meter.ts";
import type { Upstream } from "./upstream.ts";

export interface ForwardOptions {
  upstream: Upstream;
  credential: GatewayCredential;
  mask: CredentialMask;
  exchange: Exchange;
  path: string;
  isPublic: boolean;
  /** Sent upstream instead of the client's body. */
  body?: Buffer;
}

/**
 * Streams a request upstream and its response back. If one side disconnects, the other is cut, so
 * that an incomplete response never looks complete.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, credential, mask, exchange, path, isPublic, body }: ForwardOptions,
): void {
  const headers = {
    ...upstreamHeaders(request.headers, upstream.url.host, credential, isPublic),
    ...(body && bodyHeaders(body)),
  };
  const outgoing = upstream.request(request.method ?? "GET", path, headers);
  let hasResponse = false;

  response.once("close", () => {
    if (!response.writableFinished) exchange.end("client_gone");
    outgoing.destroy();
  });
  outgoing.once("response", (incoming) => {
    hasResponse = true;
    pipeResponse(incoming, response, exchange, mask);
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    // The upstream may respond early and then reset the unread request: the response counts.
    if (hasResponse) return;
    exchange.end("unreachable", error.code);
    if (!response.destroyed) {
      sendApiError(
        response,
        502,
        `the API could not be reached (${error.code ?? "no reason given"})`,
      );
    }
  });
  if (body === undefined) {
    pipeRequest(request, outgoing, exchange);
  } else {
    if (body.length > 0) exchange.addRequestChunk(body);
    outgoing.end(body);
    request.resume();
  }
}

/** Overrides the client's content type, which could make the API parse the same bytes differently. */
function bodyHeaders(body: Buffer): Record<string, string | number> {
  if (body.length === 0) return { "content-length": 0 };
  return { "content-type": "application/json", "content-length": body.length };
}

function pipeRequest(request: IncomingMessage, outgoing: ClientRequest, exchange: Exchange): void {
  const tap = new PassThrough();
  tap.on("data", (chunk: Buffer) => exchange.addRequestChunk(chunk));
  // Both streams handle their errors; the callback prevents them from being thrown.
  pipeline(request, tap, outgoing, () => undefined);
}

function pipeResponse(
  incoming: IncomingMessage,
  response: ServerResponse,
  exchange: Exchange,
  mask: CredentialMask,
): void {
  const status = incoming.statusCode ?? 502;
  exchange.recordResponse(status, incoming.headers);
  response.writeHead(
    status,
    clientHeaders(incoming.headers, (text) => mask.maskText(text)),
  );
  response.flushHeaders();
  incoming.once("error", () => exchange.end("cut"));
  incoming.on("data", (chunk: Buffer) => exchange.addResponseChunk(chunk));
  pipeline(incoming, mask.createStream(), response, (error) => {
    if (!error) exchange.end("complete");
  });
}
