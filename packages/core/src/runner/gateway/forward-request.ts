import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from "node:http";
import { PassThrough, pipeline } from "node:stream";
import {
  buildCredentialHeaders,
  type CredentialMask,
  credentialHeaderNames,
  type GatewayCredential,
} from "./credential.ts";
import { sendApiError } from "./send-api-error.ts";
import type { Exchange } from "./traffic-meter.ts";
import type { Upstream } from "./upstream.ts";

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
