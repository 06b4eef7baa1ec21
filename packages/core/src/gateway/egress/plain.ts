import { request as ask, type IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { pipeline } from "node:stream";
import { travelling } from "../headers.ts";
import { sendAnswer, unreachableAnswer } from "./answer.ts";
import type { Target } from "./target.ts";

/** Passes one request on, over a connection of its own, and its answer back. */
export function passPlain(
  request: IncomingMessage,
  response: ServerResponse,
  { target, path, upstream }: { target: Target; path: string; upstream: Socket },
): void {
  const outgoing = ask({
    method: request.method,
    path,
    headers: {
      ...travelling(request.headers, ["host", "content-length"]),
      ...framing(request),
      host: target.port === 80 ? target.host : `${target.host}:${target.port}`,
    },
    createConnection: () => upstream,
    setHost: false,
  });
  let answered = false;
  response.once("close", () => {
    outgoing.destroy();
    upstream.destroy();
  });
  outgoing.once("response", (incoming) => {
    answered = true;
    response.writeHead(incoming.statusCode ?? 502, travelling(incoming.headers, []));
    pipeline(incoming, response, () => undefined);
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    if (answered || response.destroyed) return;
    sendAnswer(request, response, unreachableAnswer(target, error.code ?? "no reason given"));
  });
  pipeline(request, outgoing, () => undefined);
}

/** Where a body ends is never left to a guess: what comes after it would be a request of its own. */
function framing({ headers }: IncomingMessage): Record<string, string> {
  const length = headers["content-length"];
  if (length !== undefined) return { "content-length": length };
  return headers["transfer-encoding"] === undefined ? {} : { "transfer-encoding": "chunked" };
}
