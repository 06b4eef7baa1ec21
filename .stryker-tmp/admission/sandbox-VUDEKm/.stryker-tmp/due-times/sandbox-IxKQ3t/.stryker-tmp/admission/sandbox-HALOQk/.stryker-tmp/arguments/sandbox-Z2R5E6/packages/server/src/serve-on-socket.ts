import { setMaxListeners } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { closeServer } from "./close-server.ts";
import type { FleetApp } from "./create-app.ts";
import { malformedRequestResponse } from "./error-response.ts";
import { bindSocket } from "./socket/bind-socket.ts";

export interface FleetServer {
  /** Ends all streams, waits briefly for open responses, and removes the socket. */
  stop(): Promise<void>;
}

const keepAliveTimeoutMs = 60_000;

/** Listens on a socket that only this user can open. Replaces a stale socket of a dead process. */
export async function serveOnSocket(app: FleetApp, socketPath: string): Promise<FleetServer> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const server = createServer(
    { requireHostHeader: false, keepAliveTimeout: keepAliveTimeoutMs },
    createListener(app, stopping.signal),
  );
  const remove = await bindSocket(server, socketPath);
  let stopTask: Promise<void> | undefined;
  return {
    stop() {
      stopTask ??= closeServer(server, stopping).finally(remove);
      return stopTask;
    },
  };
}

function createListener(app: FleetApp, stopping: AbortSignal) {
  const listener = getRequestListener(
    (request, env) => app.fetch(request, { outgoing: env.outgoing, stopSignal: stopping }),
    {
      hostname: "fleet",
      overrideGlobalObjects: false,
      errorHandler: () => malformedRequestResponse(),
    },
  );
  return (...[incoming, outgoing]: Parameters<typeof listener>) => {
    // The `Host` header is untrusted input and has no meaning on this socket.
    delete incoming.headers.host;
    return listener(incoming, outgoing);
  };
}
