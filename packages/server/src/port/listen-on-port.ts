import { setMaxListeners } from "node:events";
import { createServer, type Server } from "node:http";
import { UserError } from "@herdctl/core";
import { getRequestListener } from "@hono/node-server";
import { closeServer } from "../close-server.ts";
import { notHttp } from "../failure.ts";
import type { PortApp } from "./create-port-app.ts";

export interface PortServer {
  stop(): Promise<void>;
}

/** Milliseconds that a sender has, for the head of a request and for the whole of it. */
export interface Deadlines {
  head: number;
  whole: number;
}

const usual: Deadlines = { head: 10_000, whole: 30_000 };
const atOnce = 512;

/** Where another port will do, one that is taken is no obstacle. */
export async function listenOnPort(
  app: PortApp,
  { host, port, anyPort }: { host: string; port: number; anyPort: boolean },
  { head, whole }: Deadlines = usual,
): Promise<PortServer & { port: number }> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const server = createServer(
    {
      headersTimeout: head,
      requestTimeout: whole,
      connectionsCheckingInterval: Math.min(1_000, head / 2),
      keepAliveTimeout: 5_000,
    },
    getRequestListener(
      (request, { incoming, outgoing }) =>
        app.fetch(request, { incoming, outgoing, stopping: stopping.signal }),
      { overrideGlobalObjects: false, hostname: "fleet", errorHandler: () => notHttp() },
    ),
  );
  server.maxConnections = atOnce;
  await listen(server, host, port).catch((error: unknown) => {
    if (!anyPort || !isTaken(error)) throw error;
    return listen(server, host, 0);
  });
  let stopped: Promise<void> | undefined;
  return {
    port: portOf(server),
    stop() {
      stopped ??= closeServer(server, stopping);
      return stopped;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => reject(unusable(host, port, cause)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function isTaken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

function unusable(host: string, port: number, cause: Error): UserError {
  const isUsed = "code" in cause && cause.code === "EADDRINUSE";
  const why = isUsed ? "something else listens there" : cause.message;
  return new UserError("address_in_use", `nobody can come in at ${host}:${port}: ${why}`, {
    hint: "Stop what listens there, or choose another `server.port`, and run `herdctl reload`.",
    cause,
  });
}
