import type { ServerResponse } from "node:http";
import type { Caller } from "../auth/caller.ts";

/** What the server passes to the app about a request's connection; undefined fields if there is none. */
export interface RequestBindings {
  outgoing?: ServerResponse;
  stopSignal?: AbortSignal;
  /** Undefined for requests on the socket. */
  caller?: Caller;
}

export interface Connection {
  /** Aborted when the client disconnects or the server stops. */
  signal: AbortSignal;
  /** Closes the connection mid-response, so that the client notices that data is missing. */
  destroy(): void;
}

export function createConnection(
  request: Request,
  bindings: RequestBindings | undefined,
): Connection {
  const abortController = new AbortController();
  const abort = () => abortController.abort();
  const sources = [request.signal, bindings?.stopSignal].filter((signal) => signal !== undefined);
  for (const source of sources) {
    if (source.aborted) abort();
    source.addEventListener("abort", abort, { signal: abortController.signal });
  }
  // Abort on close, which removes the listener from the server's long-lived signal and avoids a leak.
  bindings?.outgoing?.once("close", abort);
  const destroy = () => {
    abort();
    bindings?.outgoing?.destroy();
  };
  return { signal: abortController.signal, destroy };
}
