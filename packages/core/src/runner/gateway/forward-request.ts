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
  CredentialMask,
  credentialHeaderNames,
  type GatewayCredential,
  secretsOf,
} from "./credential.ts";
import { sendApiError } from "./send-api-error.ts";
import type { Exchange } from "./traffic-meter.ts";

interface ForwardOptions {
  upstream: Upstream;
  credential: GatewayCredential;
  exchange: Exchange;
  path: string;
  /** Needs no credential and sends none. */
  isPublic: boolean;
  /** Sent upstream instead of the client's body. */
  body?: Buffer;
  /** Added to the request. */
  extraHeaders?: Readonly<Record<string, string>>;
}

/**
 * Streams a request upstream and its response back. If one side disconnects, the other is cut, so
 * that an incomplete response never looks complete.
 */
export function forwardRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: ForwardOptions,
): void {
  const { upstream, credential, exchange, path, isPublic, body, extraHeaders } = options;
  const headers = {
    ...upstreamHeaders(request.headers, upstream.url.host, credential),
    ...(body && bodyHeaders(body)),
    ...extraHeaders,
  };
  const method = request.method ?? "GET";
  const authorize = () =>
    isPublic ? {} : credentialHeaders(credential, { method, path, headers, body, upstream });
  let outgoing: ClientRequest | undefined;
  let hasResponse = false;
  const onClose = () => {
    if (!response.writableFinished) exchange.end("client_gone");
    outgoing?.destroy();
  };
  response.once("close", onClose);

  const send = (authorization: Record<string, string>, mayRenew: boolean) => {
    const call = upstream.request(method, path, { ...headers, ...authorization });
    outgoing = call;
    call.once("response", (incoming) => {
      if (mayRenew && isCredentialRejected(incoming) && renew(credential)) {
        incoming.resume();
        authorizeAndSend(false);
        return;
      }
      hasResponse = true;
      pipeResponse(incoming, response, exchange, new CredentialMask(secretsOf(credential)));
    });
    call.on("error", (error: NodeJS.ErrnoException) => {
      // The upstream may respond early and then reset the unread request: the response counts.
      if (hasResponse || call !== outgoing) return;
      exchange.end("unreachable", error.code);
      if (response.destroyed) return;
      const reason = `the API could not be reached (${error.code ?? "no reason given"})`;
      sendApiError(response, 502, reason);
    });
    if (body === undefined) {
      pipeRequest(request, call, exchange);
    } else {
      if (body.length > 0) exchange.addRequestChunk(body);
      call.end(body);
      request.resume();
    }
  };
  const authorizeAndSend = (mayRenew: boolean) => {
    Promise.resolve(authorize()).then(
      (authorization) => {
        if (!response.destroyed) send(authorization, mayRenew);
      },
      (error: unknown) => {
        exchange.end("unreachable", credentialFailure);
        if (!response.destroyed) sendApiError(response, 401, credentialProblem(error).message);
      },
    );
  };
  const authorization = authorize();
  if (authorization instanceof Promise) authorizeAndSend(true);
  else send(authorization, false);
}

/** The failure of an exchange for which no credential could be made; nothing was sent. */
const credentialFailure = "ECREDENTIAL";

/** Errors of libraries and commands become user errors where they occur; the rest are bugs. */
export function credentialProblem(error: unknown): { message: string; hint?: string } {
  if (error instanceof UserError) return { message: error.message, hint: error.hint };
  const reason = error instanceof Error ? error.message : String(error);
  return { message: `the request could not be signed (${reason})` };
}

/** A rejected credential may have expired early or been revoked, so one retry gets a new one. */
function isCredentialRejected({ statusCode }: IncomingMessage): boolean {
  return statusCode === 401 || statusCode === 403;
}

function renew(credential: GatewayCredential): boolean {
  return credential.kind === "signed" && credential.signer.renew();
}

function credentialHeaders(
  credential: GatewayCredential,
  {
    method,
    path,
    headers,
    body,
    upstream,
  }: {
    method: string;
    path: string;
    headers: OutgoingHttpHeaders;
    body: Buffer | undefined;
    upstream: Upstream;
  },
): Record<string, string> | Promise<Record<string, string>> {
  if (credential.kind !== "signed") return buildCredentialHeaders(credential);
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)] as const);
  return credential.signer.sign({
    method,
    url: new URL(path, upstream.url.origin),
    headers: Object.fromEntries(texts),
    body: body ?? Buffer.alloc(0),
  });
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

/** The headers that Claude Code sends. With a signed request, others could change its meaning. */
const claudeHeaderPattern =
  /^(accept|content-type|content-length|user-agent|x-app|anthropic-(version|beta|dangerous-direct-browser-access)|x-(stainless|claude-code)-[a-z-]+)$/;

function upstreamHeaders(
  headers: IncomingHttpHeaders,
  host: string,
  credential: GatewayCredential,
): OutgoingHttpHeaders {
  // defence: no-client-credential
  const stripped = credential.kind === "passthrough" ? [] : credentialHeaderNames;
  const forwardable = forwardableHeaders(headers, [...stripped, "host", "cookie"]);
  const kept = Object.entries(forwardable).filter(
    ([name]) =>
      credential.kind !== "signed" ||
      /* defence: provider-headers */ claudeHeaderPattern.test(name),
  );
  return {
    ...Object.fromEntries(kept),
    host,
    // The meter reads the response, so it must be uncompressed.
    "accept-encoding": "identity",
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
