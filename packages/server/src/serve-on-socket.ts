import { setMaxListeners } from "node:events";
import { createServer, type Server } from "node:http";
import { setImmediate } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import type { FleetApp } from "./create-app.ts";
import { notHttp } from "./failure.ts";
import { bind } from "./socket/bind.ts";

export interface FleetServer {
  /** Ends what is streamed, gives what is being answered a moment, and removes the socket. */
  stop(): Promise<void>;
}

const keepAlive = 60_000;
const moment = 1_000;

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
      stopped ??= close(server, stopping).finally(remove);
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

async function close(server: Server, stopping: AbortController): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // What happened until now is still told to those who look on.
  await setImmediate();
  stopping.abort();
  // A connection that has its answer would be kept open for the next question.
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const late = setTimeout(() => server.closeAllConnections(), moment);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
