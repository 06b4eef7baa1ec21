import { setMaxListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, isIP, type LookupFunction, type Socket } from "node:net";
import type { Gateway } from "../gateway.ts";
import { ProxyListener } from "../proxy-listener.ts";
import { createEgressGate, type EgressAdmission, type ResolveHost } from "./admit-target.ts";
import {
  formatRawResponse,
  type ProxyErrorResponse,
  refusalResponse,
  sendErrorResponse,
  unreachableResponse,
} from "./error-responses.ts";
import { forwardPlainRequest } from "./forward-plain-request.ts";
import { type EgressRule, egressRemedy } from "./rules.ts";
import { type ParsedTarget, parsePlainTarget, parseTunnelTarget, type Target } from "./target.ts";
import {
  type EgressEvent,
  type EgressSnapshot,
  EgressTraffic,
  type RefusedHost,
} from "./traffic.ts";
import { openTunnel, type TunnelRefusal } from "./tunnel.ts";

export interface EgressProxyOptions {
  allow: readonly EgressRule[];
  /**
   * Handles requests without a host. With `ANTHROPIC_UNIX_SOCKET` the binary ignores its login file,
   * so a run with a login file reaches the API through the address of this proxy instead.
   */
  api?: Pick<Gateway, "handleRequest">;
  /** A unix socket to listen on (default: a loopback port). */
  socketPath?: string;
  /** Mode of the socket, for clients of another user. The folder of the socket must then be private. */
  socketMode?: number;
  /** Default: the system's resolver. */
  resolve?: ResolveHost;
  onEvent?: (event: EgressEvent) => void;
  /** How long a client may take to start TLS in a tunnel. */
  helloTimeoutMs?: number;
}

export interface EgressProxy {
  /** For `HTTP_PROXY` and `HTTPS_PROXY`; only set if it listens on loopback. */
  readonly url?: string;
  readonly socketPath?: string;
  /** Refused requests by host, port and reason; at most 100. */
  refusedHosts(): readonly RefusedHost[];
  meter(): EgressSnapshot;
  /** Resets the refusals. */
  resetCounters(): void;
  stop(): Promise<void>;
}

interface ConnectedTarget {
  kind: "reached";
  target: Target;
  path: string;
  upstream: Socket;
  admission: Extract<EgressAdmission, { kind: "open" }>;
}

/** This proxy needs no key: every client that reaches the socket may use it. */
const connectionLimits = { maxConnections: 256, headersTimeoutMs: 20_000, maxUnauthenticated: 256 };

const httpPorts = [80, 443];

/** Undefined for the ports of HTTP and HTTPS, where a client does not need raw TCP. */
function tcpRemedy(target: Target, address?: string): string | undefined {
  if (httpPorts.includes(target.port)) return undefined;
  return egressRemedy(target, { address, protocol: "tcp" });
}

/** Starts an HTTP proxy that only connects to allowed hosts. */
export async function startEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const { api, socketPath, socketMode, helloTimeoutMs = 30_000 } = options;
  const traffic = new EgressTraffic(options.onEvent ?? (() => undefined));
  const admit = createEgressGate(options.allow, options.resolve);
  const stopping = new AbortController();
  setMaxListeners(connectionLimits.maxConnections, stopping.signal);

  const refuse = (target: Target, reason: string, remedy?: string) => {
    traffic.refuse(target, reason, remedy);
    return refusalResponse(target, reason, remedy);
  };
  /** A connection to the requested host, or an error response. */
  const connectTarget = async (
    parsed: ParsedTarget,
  ): Promise<ConnectedTarget | ProxyErrorResponse> => {
    if (parsed.kind === "odd") return refuse(parsed.shown, parsed.reason);
    const { target, path } = parsed;
    const admission = await admit(target);
    if (admission.kind === "refused") return refuse(target, admission.reason, admission.remedy);
    if (admission.kind === "unresolved") return unreachableResponse(target, admission.failure);
    return connectToAddress(target, admission.addresses, stopping.signal).then(
      (upstream) => {
        traffic.trackConnection(target, upstream);
        return { kind: "reached", target, path, upstream, admission };
      },
      (error: NodeJS.ErrnoException) =>
        unreachableResponse(target, error.code ?? "no reason given"),
    );
  };

  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    if (api && request.url?.startsWith("/")) return api.handleRequest(request, response);
    const result = await connectTarget(parsePlainTarget(request.url ?? ""));
    if (result.kind === "answer") return sendErrorResponse(request, response, result);
    if (response.destroyed) result.upstream.destroy();
    else forwardPlainRequest(request, response, result);
  };
  const handleConnect = async (request: IncomingMessage, head: Buffer) => {
    const client = request.socket;
    client.on("error", () => undefined);
    client.setTimeout(0);
    client.pause();
    const result = await connectTarget(parseTunnelTarget(request.url ?? ""));
    if (result.kind === "answer") return client.end(formatRawResponse(result));
    const { target, upstream, admission } = result;
    if (client.destroyed) return upstream.destroy();
    const onRefused = ({ reason, isOtherProtocol }: TunnelRefusal) =>
      refuse(target, reason, isOtherProtocol ? tcpRemedy(target, admission.pinned) : undefined);
    const { protocol } = admission;
    openTunnel(client, upstream, { head, host: target.host, protocol, helloTimeoutMs, onRefused });
  };

  const listener = new ProxyListener(
    { requestTimeout: 0, keepAliveTimeout: 60_000 },
    handleRequest,
    connectionLimits,
  );
  listener.server.timeout = idleTimeoutMs;
  listener.server.on("connect", (request, _socket, head) => {
    handleConnect(request, head).catch(() => request.socket.destroy());
  });
  const url = await listener.listen({ socketPath, socketMode });
  const stop = async () => {
    stopping.abort();
    await listener.close();
  };
  return {
    ...(socketPath === undefined ? { url } : { socketPath }),
    refusedHosts: () => traffic.refusedHosts(),
    meter: () => traffic.snapshot(),
    resetCounters: () => traffic.resetCounters(),
    stop,
  };
}

const connectTimeoutMs = 30_000;

/** Transfers may pause and servers may be slow; after this time a connection is considered dead. */
const idleTimeoutMs = 10 * 60_000;

/** Connects to one of the checked addresses, without resolving the name again. */
function connectToAddress(
  { host, port }: Target,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  const addressList = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: LookupFunction = (_host, options, done) => {
    const [first] = addressList;
    if (options.all || first === undefined) done(null, addressList);
    else done(null, first.address, first.family);
  };
  const happyEyeballsOptions = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: 1_000 };
  const socket = connect({
    host,
    port,
    lookup,
    allowHalfOpen: true,
    signal,
    ...happyEyeballsOptions,
  });
  return new Promise((resolve, reject) => {
    const connectTimer = setTimeout(() => socket.destroy(timeoutError()), connectTimeoutMs);
    socket.once("connect", () => {
      clearTimeout(connectTimer);
      socket.off("error", reject);
      socket.on("error", () => undefined);
      socket.setTimeout(idleTimeoutMs, () => socket.destroy());
      resolve(socket);
    });
    socket.once("error", reject);
    socket.once("close", () => clearTimeout(connectTimer));
  });
}

function timeoutError(): NodeJS.ErrnoException {
  return Object.assign(new Error("the connection took too long"), { code: "ETIMEDOUT" });
}
