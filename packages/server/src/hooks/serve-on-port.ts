import { createServer, type Server } from "node:http";
import { UserError } from "@herdctl/core";
import { getRequestListener } from "@hono/node-server";
import type { HooksApp } from "./create-hooks-app.ts";

export interface PortServer {
  stop(): Promise<void>;
}

/** Milliseconds that a sender has, for the head of a request and for the whole of it. */
export interface Deadlines {
  head: number;
  whole: number;
}

const usual: Deadlines = { head: 10_000, whole: 30_000 };
const moment = 1_000;
const atOnce = 512;

export async function serveOnPort(
  app: HooksApp,
  { host, port }: { host: string; port: number },
  { head, whole }: Deadlines = usual,
): Promise<PortServer> {
  const server = createServer(
    {
      headersTimeout: head,
      requestTimeout: whole,
      connectionsCheckingInterval: Math.min(1_000, head / 2),
      keepAliveTimeout: 5_000,
    },
    getRequestListener(app.fetch, { overrideGlobalObjects: false, hostname: host }),
  );
  server.maxConnections = atOnce;
  await listen(server, host, port);
  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= close(server);
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

function unusable(host: string, port: number, cause: Error): UserError {
  const isTaken = "code" in cause && cause.code === "EADDRINUSE";
  const why = isTaken ? "something else listens there" : cause.message;
  return new UserError("address_in_use", `the fleet cannot listen at ${host}:${port}: ${why}`, {
    hint: "Stop what listens there, or choose another `server.port`, and run `herdctl reload`.",
    cause,
  });
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const late = setTimeout(() => server.closeAllConnections(), moment);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
