import type { IncomingMessage, ServerResponse } from "node:http";
import {
  checkCredential,
  type GatewayCredential,
  isAdmitted,
  newPlaceholder,
} from "./credential.ts";
import { type ConnectionLimits, Door } from "./door.ts";
import { forward } from "./forward.ts";
import { Mask } from "./mask.ts";
import { type GatewayEvent, Meter, type MeterSnapshot } from "./meter.ts";
import { admitCall, isPriced, type SpendAccount } from "./metering/admit-call.ts";
import type { BodyPolicy } from "./policy/reach.ts";
import { BodyRoom } from "./policy/read-body.ts";
import { sealRequest } from "./policy/sealed-request.ts";
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
  /** The unix socket to listen on, in a folder that only this user can open. */
  socketPath: string;
  /** For a user other than ours behind the socket; then the folder around it must be private. */
  socketMode?: number;
  /** What message calls may ask of the API beyond an answer; anything by default. */
  policy?: BodyPolicy;
  /** Meters and limits what message calls cost. */
  account?: SpendAccount;
  onEvent?: (event: GatewayEvent) => void;
  now?: () => number;
  limits?: Partial<ConnectionLimits>;
}

export interface Gateway {
  /** For `ANTHROPIC_BASE_URL`; with a socket, any name does and this one is accepted. */
  readonly baseUrl: string;
  readonly socketPath: string;
  /** For `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` of the client. */
  readonly placeholder: string;
  /** Answers a request that came in by another door. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void>;
  meter(): MeterSnapshot;
  /** What was counted so far counts no more. */
  countAnew(): void;
  /** There will be a request soon: the API is connected to by then. */
  getReady(): void;
  stop(): Promise<void>;
}

/** More than one agent needs, and few enough to hold. */
const defaultLimits: ConnectionLimits = {
  maxConnections: 128,
  headersTimeoutMs: 20_000,
  maxUnauthenticated: 32,
};

/** A door to the API that holds the credential, so that whoever comes through it need not. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { credential, socketPath, socketMode, policy = "open", account } = options;
  checkCredential(credential);
  const placeholder = options.placeholder ?? newPlaceholder();
  const upstream = connectUpstream(options.upstream, options.upstreamSocket);
  const meter = new Meter(options.now ?? Date.now, options.onEvent ?? (() => undefined));
  const mask = new Mask(credential.kind === "passthrough" ? undefined : credential.value);
  const room = new BodyRoom();
  const own: string[] = [];

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "", url: target = "" } = request;
    const refuse = (status: number, reason: string, remedy?: string) => {
      meter.refuse({ method, target, status, reason, remedy });
      answerError(response, status, reason, remedy);
      request.resume();
    };
    const route = routeRequest(method, target, { own, upstream: upstream.url });
    if (route.kind === "refuse") return refuse(route.status, route.reason);
    if (!route.open && !isAdmitted(request.headers, credential, placeholder)) {
      return refuse(401, "the key is not the one of this run");
    }
    if (!route.open) door.authenticated(request.socket);
    const sealed =
      policy === "open" ? undefined : await sealRequest(request, route.path, policy.allow, room);
    if (sealed?.kind === "gone") return;
    if (sealed?.kind === "refuse") return refuse(sealed.status, sealed.reason, sealed.remedy);
    const paid =
      account && isPriced(method, route.path)
        ? await admitCall(request, response, sealed?.bytes, { account, room })
        : undefined;
    if (paid?.kind === "gone") return;
    if (paid?.kind === "refuse") return refuse(paid.status, paid.reason);
    const exchange = meter.begin(method, route.path, paid?.call);
    forward(request, response, {
      ...{ upstream, credential, mask, exchange, ...route },
      // Only a POST has a body that means something; another could be read as a request of its own.
      body: sealed?.bytes ?? paid?.bytes ?? (method === "POST" ? undefined : Buffer.alloc(0)),
    });
  };

  // A prompt may be long and a client slow; only its going away ends a request.
  const timeouts = { requestTimeout: 0, keepAliveTimeout: 120_000 };
  const door = new Door(timeouts, answer, { ...defaultLimits, ...options.limits });
  door.server.on("connect", (request, socket) => {
    const reason = "no tunnels are opened here";
    meter.refuse({ method: "CONNECT", target: request.url ?? "", status: 403, reason });
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  const baseUrl = await door.open({ socketPath, socketMode });
  own.push(baseUrl);
  const stop = async () => {
    await door.close();
    upstream.close();
  };
  return {
    ...{ baseUrl, socketPath, placeholder, answer, stop },
    meter: () => meter.snapshot(),
    countAnew: () => meter.countAnew(),
    getReady: () => upstream.getReady(),
  };
}
