import { setMaxListeners } from "node:events";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { closeServer } from "./close-server.ts";
import type { FleetApp } from "./create-app.ts";
import { notHttp } from "./failure.ts";
import { bind } from "./socket/bind.ts";

export interface FleetServer {
  /** Ends what is streamed, gives what is being answered a moment, and removes the socket. */
  stop(): Promise<void>;
}

const keepAlive = 60_000;

/** For this user alone. A socket left behind by a dead process is replaced. */
export async function serveOnSocket(app: FleetApp, socketPath: string): Promise<FleetServer> {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  const server = createServer(
    { requireHostHeader: false, keepAliveTimeout: keepAlive },
    listenerFor(app, stopping.signal),
  );
  const remove = await bind(server, socketPath);
  let stopped: Promise<void> | undefined;
  return {
    stop() {
      stopped ??= closeServer(server, stopping).finally(remove);
      return stopped;
    },
  };
}

function listenerFor(app: FleetApp, stopping: AbortSignal) {
  const listener = getRequestListener(
    (request, env) => app.fetch(request, { outgoing: env.outgoing, stopping }),
    {
      hostname: "fleet",
      overrideGlobalObjects: false,
      errorHandler: () => notHttp(),
    },
  );
  return (...[incoming, outgoing]: Parameters<typeof listener>) => {
    // Whatever a caller writes there is the caller's word: on this socket it decides nothing.
    delete incoming.headers.host;
    return listener(incoming, outgoing);
  };
}
