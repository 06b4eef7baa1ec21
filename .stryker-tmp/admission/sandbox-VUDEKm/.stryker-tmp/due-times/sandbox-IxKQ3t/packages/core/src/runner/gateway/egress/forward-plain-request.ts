import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { forwardableHeaders } from "../headers.ts";
import { sendErrorResponse, unreachableResponse } from "./error-responses.ts";
import type { Target } from "./target.ts";

/** Forwards one request over a new connection, and returns the response. */
export function forwardPlainRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path, upstream }: { target: Target; path: string; upstream: Socket },
): void {
  const outgoing = httpRequest({
    method: request.method,
    path,
    headers: /* defence: upstream-host-header */ {
      ...forwardableHeaders(request.headers, ["host", "content-length"]),
      ...framingHeaders(request),
      host: target.port === 80 ? target.host : `${target.host}:${target.port}`,
    },
    createConnection: () => upstream,
    setHost: false,
  });
  let hasResponse = false;
  response.once("close", () => {
    outgoing.destroy();
    upstream.destroy();
  });
  outgoing.once("response", (incoming) => {
    hasResponse = true;
    response.writeHead(incoming.statusCode ?? 502, forwardableHeaders(incoming.headers, []));
    pipeline(incoming, response, () => undefined);
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    if (hasResponse || response.destroyed) return;
    sendErrorResponse(
      request,
      response,
      unreachableResponse(target, error.code ?? "no reason given"),
    );
  });
  pipeline(request, outgoing, () => undefined);
}

/** The end of the body must be explicit; otherwise the rest could be read as another request. */
function framingHeaders({ headers }: IncomingMessage): Record<string, string> {
  const length = headers["content-length"];
  if (length !== undefined) return { "content-length": length };
  return headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
}
