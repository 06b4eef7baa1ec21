import { setMaxListeners } from "node:events";
import { createServer, type Server } from "node:http";
import { hasErrorCode, UserError } from "@herdctl/protocol";
import { getRequestListener } from "@hono/node-server";
import { closeServer } from "../close-server.ts";
import { malformedRequestResponse } from "../error-response.ts";
import type { HttpApp } from "./create-http-app.ts";

export interface HttpServer {
  stop(): Promise<void>;
}

/** Timeouts for receiving the headers and the whole request. */
export interface RequestTimeouts {
  headersMs: number;
  requestMs: number;
}

const defaultTimeouts: RequestTimeouts = { headersMs: 10_000, requestMs: 30_000 };
const maxConnections = 512;

/** Starts the HTTP server. With `canUseAnyPort`, it uses a free port if the given one is taken. */
export async function listenHttp(
  app: HttpApp,
  { host, port, canUseAnyPort }: { host: string; port: number; canUseAnyPort: boolean },
  { headersMs, requestMs }: RequestTimeouts = defaultTimeouts,
): Promise<HttpServer & { port: number }> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const server = createServer(
    {
      headersTimeout: headersMs,
      requestTimeout: requestMs,
      connectionsCheckingInterval: Math.min(1_000, headersMs / 2),
      keepAliveTimeout: 5_000,
    },
    getRequestListener(
      (request, { incoming, outgoing }) =>
        app.fetch(request, { incoming, outgoing, stopSignal: stopping.signal }),
      {
        overrideGlobalObjects: false,
        hostname: "fleet",
        errorHandler: () => malformedRequestResponse(),
      },
    ),
  );
  server.maxConnections = maxConnections;
  await listen(server, host, port).catch((error: unknown) => {
    if (!canUseAnyPort || !isAddressInUse(error)) throw error;
    return listen(server, host, 0);
  });
  let stopTask: Promise<void> | undefined;
  return {
    port: portOf(server),
    stop() {
      stopTask ??= closeServer(server, stopping);
      return stopTask;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(listenError(host, port, cause)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function isAddressInUse(error: unknown): boolean {
  return error instanceof Error && hasErrorCode(error.cause, "EADDRINUSE");
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

function listenError(host: string, port: number, cause: Error): UserError {
  const isInUse = hasErrorCode(cause, "EADDRINUSE");
  const reason = isInUse ? "the port is already in use" : cause.message;
  return new UserError("address_in_use", `cannot listen on ${host}:${port}: ${reason}`, {
    hint: "Stop the other process, or set another `server.port` and run `herdctl reload`.",
    cause,
  });
}
