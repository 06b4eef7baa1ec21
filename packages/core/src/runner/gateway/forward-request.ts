import http, {
  type Agent,
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import { type Duplex, PassThrough, pipeline } from "node:stream";
import { UserError } from "@herdctl/protocol";
import {
  buildCredentialHeaders,
  type CredentialMask,
  credentialHeaderNames,
  type GatewayCredential,
} from "./credential.ts";
import { sendApiError } from "./send-api-error.ts";
import type { Exchange } from "./traffic-meter.ts";

interface ForwardOptions {
  upstream: Upstream;
  credential: GatewayCredential;
  mask: CredentialMask;
  exchange: Exchange;
  path: string;
  isPublic: boolean;
  /** Sent upstream instead of the client's body. */
  body?: Buffer;
}

/**
 * Streams a request upstream and its response back. If one side disconnects, the other is cut, so
 * that an incomplete response never looks complete.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  { upstream, credential, mask, exchange, path, isPublic, body }: ForwardOptions,
): void {
  const headers = {
    ...upstreamHeaders(request.headers, upstream.url.host, credential, isPublic),
    ...(body && bodyHeaders(body)),
  };
  const outgoing = upstream.request(request.method ?? "GET", path, headers);
  let hasResponse = false;

  response.once("close", () => {
    if (!response.writableFinished) exchange.end("client_gone");
    outgoing.destroy();
  });
  outgoing.once("response", (incoming) => {
    hasResponse = true;
    pipeResponse(incoming, response, exchange, mask);
  });
  outgoing.on("error", (error: NodeJS.ErrnoException) => {
    // The upstream may respond early and then reset the unread request: the response counts.
    if (hasResponse) return;
    exchange.end("unreachable", error.code);
    if (!response.destroyed) {
      sendApiError(
        response,
        502,
        `the API could not be reached (${error.code ?? "no reason given"})`,
      );
    }
  });
  if (body === undefined) {
    pipeRequest(request, outgoing, exchange);
  } else {
    if (body.length > 0) exchange.addRequestChunk(body);
    outgoing.end(body);
    request.resume();
  }
}

/** Overrides the client's content type, which could make the API parse the same bytes differently. */
function bodyHeaders(body: Buffer): Record<string, string | number> {
  if (body.length === 0) return { "content-length": 0 };
  return { "content-type": "application/json", "content-length": body.length };
}

function pipeRequest(request: IncomingMessage, outgoing: ClientRequest, exchange: Exchange): void {
  const tap = new PassThrough();
  tap.on("data", (chunk: Buffer) => exchange.addRequestChunk(chunk));
  // Both streams handle their errors; the callback prevents them from being thrown.
  pipeline(request, tap, outgoing, () => undefined);
}

function pipeResponse(
  incoming: IncomingMessage,
  response: ServerResponse,
  exchange: Exchange,
  mask: CredentialMask,
): void {
  const status = incoming.statusCode ?? 502;
  exchange.recordResponse(status, incoming.headers);
  response.writeHead(
    status,
    clientHeaders(incoming.headers, (text) => mask.maskText(text)),
  );
  response.flushHeaders();
  incoming.once("error", () => exchange.end("cut"));
  incoming.on("data", (chunk: Buffer) => exchange.addResponseChunk(chunk));
  pipeline(incoming, mask.createStream(), response, (error) => {
    if (!error) exchange.end("complete");
  });
}

/** They concern one connection and are never forwarded. */
const hopByHopHeaders = [
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
];

function upstreamHeaders(
  headers: IncomingHttpHeaders,
  host: string,
  credential: GatewayCredential,
  isPublic: boolean,
): OutgoingHttpHeaders {
  // defence: no-client-credential
  const stripped = credential.kind === "passthrough" ? [] : credentialHeaderNames;
  return {
    ...forwardableHeaders(headers, [...stripped, "host", "cookie"]),
    host,
    // The meter reads the response, so it must be uncompressed.
    "accept-encoding": "identity",
    ...(isPublic ? {} : buildCredentialHeaders(credential)),
  };
}

function clientHeaders(
  headers: IncomingHttpHeaders,
  mask: (text: string) => string,
): OutgoingHttpHeaders {
  const kept = forwardableHeaders(headers, ["set-cookie"]);
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [name, mask(String(value))]),
  );
}

/** The headers that may be forwarded to the next hop. */
export function forwardableHeaders(
  headers: IncomingHttpHeaders,
  excluded: readonly string[],
): Record<string, string | string[]> {
  const connectionHeaders = (headers.connection ?? "").toLowerCase().split(/[\s,]+/);
  const dropped = new Set([...hopByHopHeaders, ...connectionHeaders, ...excluded]);
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !dropped.has(name)) kept[name] = value;
  }
  return kept;
}

/** The upstream path of a request, or why it is refused. */
type Route =
  | { kind: "forward"; path: string; isPublic: boolean }
  | { kind: "refuse"; status: 403 | 404; reason: string };

interface GatewayOrigins {
  /** Origins that address this gateway in an absolute-form target. */
  ownOrigins: readonly string[];
  upstream: URL;
}

/** Public routes need no key and send no credential; the binaries use them to probe the API. */
const allowedRoutes = [
  { method: "POST", path: /* defence: gateway-routes */ /^\/v1\/messages$/, isPublic: false },
  { method: "POST", path: /^\/v1\/messages\/count_tokens$/, isPublic: false },
  { method: "GET", path: /^\/v1\/models(\/[A-Za-z0-9][A-Za-z0-9._:-]*)?$/, isPublic: false },
  { method: "HEAD", path: /^\/(api\/hello)?$/, isPublic: true },
];

/**
 * Paths are matched verbatim, so that encodings and dot segments cannot have a different meaning
 * upstream.
 */
export function routeRequest(method: string, target: string, origins: GatewayOrigins): Route {
  const localPath = toLocalPath(target, origins);
  if (localPath === undefined) {
    return { kind: "refuse", status: 403, reason: "this gateway does not forward to other hosts" };
  }
  const query = localPath.indexOf("?");
  const path = query === -1 ? localPath : localPath.slice(0, query);
  const route = allowedRoutes.find(
    (allowed) => allowed.method === method && allowed.path.test(path),
  );
  if (route === undefined) {
    return { kind: "refuse", status: 404, reason: "this gateway does not forward such requests" };
  }
  return {
    kind: "forward",
    path: withPrefix(origins.upstream, localPath),
    isPublic: route.isPublic,
  };
}

/** Claude Code 2.1.197 sends absolute-form targets if HTTP_PROXY is set. */
function toLocalPath(target: string, { ownOrigins, upstream }: GatewayOrigins): string | undefined {
  if (target.startsWith("/")) return target;
  const absolute = /^https?:\/\/[^/?#@\s]+(?<rest>\/[^\s#]*)$/i.exec(target);
  const rest = absolute?.groups?.rest;
  if (rest === undefined || !URL.canParse(target)) return undefined;
  const { origin } = new URL(target);
  if (ownOrigins.includes(origin)) return rest;
  // defence: gateway-origin
  if (origin !== upstream.origin) return undefined;
  const prefix = pathPrefixOf(upstream);
  return prefix !== "" && rest.startsWith(`${prefix}/`) ? rest.slice(prefix.length) : rest;
}

function withPrefix(upstream: URL, path: string): string {
  return `${pathPrefixOf(upstream)}${path}`;
}

function pathPrefixOf(upstream: URL): string {
  return upstream.pathname.replace(/\/+$/, "");
}

/** The API, or the server configured in its place. */
export interface Upstream {
  url: URL;
  request(method: string, path: string, headers: OutgoingHttpHeaders): ClientRequest;
  /** Connects ahead of a request. */
  preconnect(): void;
  close(): void;
}

/** Close idle connections before the other side does, so that no request hits a closing connection. */
const idleTimeoutMs = 30_000;

/**
 * With a socket, the address only provides the host name. The gateway ignores proxy variables of the
 * environment and connects directly.
 */
export function connectUpstream(address: string | URL, socketPath?: string): Upstream {
  const url = parseAddress(String(address));
  const client = url.protocol === "https:" && socketPath === undefined ? https : http;
  const agent = new client.Agent({ keepAlive: true, timeout: idleTimeoutMs });
  const target = socketPath === undefined ? connectTargetOf(url) : { path: socketPath };
  const preconnector = new Preconnector(agent, target);
  const connectOptions = "path" in target ? { socketPath: target.path } : target;
  return {
    url,
    request: (method, path, headers) =>
      client.request({ method, path, headers, agent, ...connectOptions }),
    preconnect: () => preconnector.open(),
    close: () => {
      preconnector.close();
      agent.destroy();
    },
  };
}

function connectTargetOf({
  protocol,
  hostname,
  port,
}: URL): Exclude<ConnectTarget, { path: string }> {
  const defaultPort = protocol === "https:" ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || defaultPort };
}

function parseAddress(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  // The address itself is not shown, because it may contain a password.
  const invalid = (problem: string) =>
    new UserError("config_invalid", `the API address ${problem}`, {
      hint: "Set ANTHROPIC_BASE_URL to an http:// or https:// address, or leave it unset.",
    });
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw invalid("is not an HTTP URL");
  if (url.username !== "" || url.password !== "") throw invalid("contains a user name or password");
  return url;
}

/** Below the time after which servers close a connection without requests. */
const maxIdleMs = 5_000;

/** Where the HTTP agent connects to. */
type ConnectTarget = { host: string; port: number } | { path: string };

/**
 * Opens a connection before a request needs it. Connecting takes several round trips with TLS, which
 * fit into the time that `claude` takes to start.
 */
class Preconnector {
  private readonly connect: () => Duplex | null | undefined;
  private idle: { socket: Duplex; expiryTimer: NodeJS.Timeout } | undefined;

  constructor(agent: Agent, target: ConnectTarget) {
    const connect = agent.createConnection.bind(agent);
    const tlsOptions =
      "host" in target && isIP(target.host) === 0 ? { servername: target.host } : {};
    const options = { ...target, ...tlsOptions, noDelay: true };
    this.connect = () => connect(options);
    agent.createConnection = (options, done) => this.take() ?? connect(options, done);
  }

  open(): void {
    const socket = this.connect();
    if (!socket) return;
    const expiryTimer = setTimeout(() => socket.destroy(), maxIdleMs).unref();
    const idle = { socket, expiryTimer };
    this.idle = idle;
    // The request that takes the socket handles errors itself; errors of an unused socket do not matter.
    socket.on("error", () => undefined);
    socket.once("close", () => {
      if (this.idle === idle) this.take();
    });
  }

  close(): void {
    this.take()?.destroy();
  }

  private take(): Duplex | undefined {
    const { idle } = this;
    this.idle = undefined;
    clearTimeout(idle?.expiryTimer);
    return idle?.socket.writable ? idle.socket : undefined;
  }
}
