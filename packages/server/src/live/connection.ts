import type { ServerResponse } from "node:http";
import type { Visitor } from "../access/visitor.ts";

/** What the server tells the app of the connection a request came by; nothing when there is none. */
export interface Bindings {
  outgoing?: ServerResponse;
  stopping?: AbortSignal;
  /** Who asks; without it the request came over the socket. */
  visitor?: Visitor;
}

export interface Connection {
  /** Aborted when the other side has gone or the server stops. */
  signal: AbortSignal;
  /** Ends it in the middle, so that the other side knows that something is missing. */
  cut(): void;
}

export function connectionOf(request: Request, bindings: Bindings | undefined): Connection {
  const ended = new AbortController();
  const end = () => ended.abort();
  const sources = [request.signal, bindings?.stopping].filter((signal) => signal !== undefined);
  for (const source of sources) {
    if (source.aborted) end();
    source.addEventListener("abort", end, { signal: ended.signal });
  }
  // The signal of the server outlives thousands of connections: nothing of them may stay with it.
  bindings?.outgoing?.once("close", end);
  const cut = () => {
    end();
    bindings?.outgoing?.destroy();
  };
  return { signal: ended.signal, cut };
}
