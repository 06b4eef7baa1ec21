import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  checkCredential,
  type GatewayCredential,
  isAdmitted,
  newPlaceholder,
} from "./credential.ts";
import { forward } from "./forward.ts";
import { listenOnLoopback, listenOnSocket } from "./listen.ts";
import { Mask } from "./mask.ts";
import { type GatewayEvent, Meter, type MeterSnapshot } from "./meter.ts";
import type { BodyPolicy } from "./policy/reach.ts";
import { answerError } from "./refusal.ts";
import { routeRequest } from "./route.ts";
import { connectUpstream } from "./upstream.ts";

export interface GatewayOptions {
  /** The API's address. */
  upstream: string | URL;
  /** A unix socket on which that address is reached. */
  upstreamSocket?: string;
  credential: GatewayCredential;
  /** What clients must show as their key; a random one by default. */
  placeholder?: string;
  /** A unix socket to listen on; on a loopback port by default. */
  socketPath?: string;
  /** For a user other than ours behind the socket; then the folder around it must be private. */
  socketMode?: number;
  /** What message calls may ask of the API beyond an answer; anything by default. */
  policy?: BodyPolicy;
  onEvent?: (event: GatewayEvent) => void;
  now?: () => number;
}

export interface Gateway {
  /** For `ANTHROPIC_BASE_URL`; with a socket, any name does and this one is accepted. */
  readonly baseUrl: string;
  readonly socketPath?: string;
  /** For `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` of the client. */
  readonly placeholder: string;
  meter(): MeterSnapshot;
  stop(): Promise<void>;
}

const baseUrlOnSocket = "http://localhost";

/** A door to the API that holds the credential, so that whoever comes through it need not. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { credential, socketPath } = options;
  checkCredential(credential);
  const placeholder = options.placeholder ?? newPlaceholder();
  const upstream = connectUpstream(options.upstream, options.upstreamSocket);
  const meter = new Meter(options.now ?? Date.now, options.onEvent ?? (() => undefined));
  const mask = new Mask(credential.kind === "passthrough" ? undefined : credential.value);
  const own: string[] = [];

  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: target = "" } = request;
    const refuse = (status: 401 | 403 | 404, reason: string) => {
      meter.refuse({ method, target, status, reason });
      answerError(response, status, reason);
      request.resume();
    };
    const route = routeRequest(method, target, { own, upstream: upstream.url });
    if (route.kind === "refuse") return refuse(route.status, route.reason);
    if (!route.open && !isAdmitted(request.headers, credential, placeholder)) {
      return refuse(401, "the key is not the one of this run");
    }
    const exchange = meter.begin(method, route.path);
    forward(request, response, { upstream, credential, mask, exchange, ...route });
  };

  const server = createDoor(answer, (target) =>
    meter.refuse({ method: "CONNECT", target, status: 403, reason: "no tunnels are opened here" }),
  );
  const baseUrl = await listen(server, socketPath);
  own.push(baseUrl);
  const stop = once(() => close(server, () => upstream.close()));
  return { baseUrl, socketPath, placeholder, meter: () => meter.snapshot(), stop };
}

function createDoor(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  onTunnel: (target: string) => void,
): Server {
  // A prompt may be long and a client slow; only its going away ends a request.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 120_000 }, answer);
  server.on("connect", (request, socket) => {
    onTunnel(request.url ?? "");
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  return server;
}

async function listen(server: Server, socketPath: string | undefined): Promise<string> {
  if (socketPath === undefined) return listenOnLoopback(server);
  await listenOnSocket(server, socketPath);
  return baseUrlOnSocket;
}

function close(server: Server, after: () => void): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      after();
      resolve();
    });
    server.closeAllConnections();
  });
}

function once<T>(start: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= start();
    return running;
  };
}
