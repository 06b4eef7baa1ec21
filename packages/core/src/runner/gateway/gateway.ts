import type { IncomingMessage, ServerResponse } from "node:http";
import {
  checkCredential,
  createPlaceholder,
  type GatewayCredential,
  isAuthorized,
  splitPathKey,
} from "./credential.ts";
import { connectUpstream, credentialProblem, forwardRequest } from "./forward-request.ts";
import { admitCall, type SpendAccount } from "./metering/spend-meter.ts";
import {
  type ApiFeature,
  apiFeatures,
  type BodyPolicy,
  findForbiddenFeature,
} from "./policy/api-features.ts";
import { BodyReader, parseBody } from "./policy/parse-body.ts";
import { betaFeatures, requestedFeatures } from "./policy/requested-features.ts";
import { anthropicRoutes } from "./providers/anthropic-routes.ts";
import type { PathFacts, ProviderRoute } from "./providers/contract.ts";
import { type ConnectionLimits, ProxyListener } from "./proxy-listener.ts";
import { routeRequest } from "./route-request.ts";
import { sendApiError } from "./send-api-error.ts";
import { type GatewayEvent, type MeterSnapshot, TrafficMeter } from "./traffic-meter.ts";

export interface GatewayOptions {
  /** The base URL of the API. */
  upstream: string | URL;
  /** A unix socket to connect to instead of that address. */
  upstreamSocket?: string;
  credential: GatewayCredential;
  /** The requests that are forwarded (default: those of the Anthropic API). */
  routes?: readonly ProviderRoute[];
  readPath?: (path: string) => PathFacts;
  /** Added to every request. */
  extraHeaders?: Readonly<Record<string, string>>;
  /** The key that clients must send (default: random). */
  placeholder?: string;
  /** The unix socket to listen on, in a folder that only this user can open. */
  socketPath: string;
  /** Mode of the socket, for clients of another user. The folder of the socket must then be private. */
  socketMode?: number;
  /** The API features that message calls may use (default: any). */
  policy?: BodyPolicy;
  /** Meters and limits the cost of message calls. */
  account?: SpendAccount;
  onEvent?: (event: GatewayEvent) => void;
  now?: () => number;
  limits?: Partial<ConnectionLimits>;
}

export interface Gateway {
  /** For `ANTHROPIC_BASE_URL`. Clients connect to the socket; the host name is a placeholder. */
  readonly baseUrl: string;
  readonly socketPath: string;
  /** Why the last call could not be authenticated; undefined after a later call could. */
  credentialProblem(): { message: string; hint?: string } | undefined;
  /** For `ANTHROPIC_API_KEY` or `ANTHROPIC_AUTH_TOKEN` of the client. */
  readonly placeholder: string;
  /** Handles a request that arrived at another listener. */
  handleRequest(request: IncomingMessage, response: ServerResponse): Promise<void>;
  meter(): MeterSnapshot;
  /** Resets the counters. */
  resetCounters(): void;
  /** Connects to the API ahead of an expected request. */
  preconnect(): void;
  stop(): Promise<void>;
}

/** More than one agent needs, but bounded. */
const defaultConnectionLimits: ConnectionLimits = {
  maxConnections: 128,
  headersTimeoutMs: 20_000,
  maxUnauthenticated: 32,
};

/** Starts a proxy to the API that holds the credential, so that clients do not need it. */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { credential, socketPath, socketMode, policy = "open", account } = options;
  checkCredential(credential);
  const placeholder = options.placeholder ?? createPlaceholder();
  const upstream = connectUpstream(options.upstream, options.upstreamSocket);
  const meter = new TrafficMeter(options.now ?? Date.now, options.onEvent ?? (() => undefined));
  const gatewayRoutes = { routes: options.routes ?? anthropicRoutes, readPath: options.readPath };
  let lastCredentialProblem: { message: string; hint?: string } | undefined;
  const bodyReader = new BodyReader();
  const ownOrigins: string[] = [];

  const handleRequest = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = "" } = request;
    const { target, pathKey } = splitPathKey(request.url ?? "");
    const refuse = (status: number, reason: string, remedy?: string) => {
      meter.refuse({ method, target, status, reason, remedy });
      sendApiError(response, status, reason, remedy);
      request.resume();
    };
    const origins = { ownOrigins, upstream: upstream.url };
    const route = routeRequest(method, target, origins, gatewayRoutes);
    if (route.kind === "refuse") return refuse(route.status, route.reason);
    const isPublic = route.use === "probe";
    if (!isPublic && !isAuthorized(request.headers, credential, placeholder, pathKey)) {
      return refuse(401, "the key does not belong to this run");
    }
    if (!isPublic) listener.markAuthenticated(request.socket);
    // A signature covers the body, so the body of a signed request is always read.
    const policyToCheck = policy === "open" && credential.kind === "signed" ? anyFeature : policy;
    if (credential.kind === "signed" && policyToCheck !== "open")
      dropForbiddenBetas(request, policyToCheck.allow);
    const checked =
      policyToCheck === "open"
        ? undefined
        : await checkRequest(request, route.path, policyToCheck.allow, bodyReader);
    if (checked?.kind === "gone") return;
    if (checked?.kind === "refuse") return refuse(checked.status, checked.reason, checked.remedy);
    if (credential.kind === "signed" && !isPublic) {
      lastCredentialProblem = await credential.signer.prepare().then(
        () => undefined,
        (error: unknown) => credentialProblem(error),
      );
      if (lastCredentialProblem) return refuse(401, lastCredentialProblem.message);
    }
    const admission =
      // defence: no-calls-between-turns
      account && route.use === "message"
        ? await admitCall(request, response, checked?.bytes, {
            account,
            bodyReader,
            facts: route.facts,
          })
        : undefined;
    if (admission?.kind === "gone") return;
    if (admission?.kind === "refuse") return refuse(admission.status, admission.reason);
    const exchange = meter.begin(method, route.path, admission?.call);
    forwardRequest(request, response, {
      ...{ upstream, credential, exchange, isPublic },
      path: route.path,
      extraHeaders: options.extraHeaders,
      // Only a POST has a meaningful body; any other body could be read as another request.
      body: checked?.bytes ?? admission?.bytes ?? (method === "POST" ? undefined : Buffer.alloc(0)),
    });
  };

  // No request timeout: prompts may be long and clients slow. A request ends when its client disconnects.
  const timeouts = { requestTimeout: 0, keepAliveTimeout: 120_000 };
  const listener = new ProxyListener(timeouts, handleRequest, {
    ...defaultConnectionLimits,
    ...options.limits,
  });
  listener.server.on("connect", (request, socket) => {
    const reason = "the gateway does not support tunnels";
    meter.refuse({ method: "CONNECT", target: request.url ?? "", status: 403, reason });
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
  });
  const baseUrl = await listener.listen({ socketPath, socketMode });
  ownOrigins.push(baseUrl);
  const stop = async () => {
    await listener.close();
    upstream.close();
  };
  return {
    ...{ baseUrl, socketPath, placeholder, handleRequest, stop },
    credentialProblem: () => lastCredentialProblem,
    meter: () => meter.snapshot(),
    resetCounters: () => meter.resetCounters(),
    preconnect: () => upstream.preconnect(),
  };
}

/** Reads and normalizes the body without refusing a feature. */
const anyFeature: BodyPolicy & object = { allow: Object.keys(apiFeatures) as ApiFeature[] };

/**
 * Claude Code enables web search for some providers in every request. A beta that the policy forbids
 * is not forwarded; a request that uses its tools is refused.
 */
function dropForbiddenBetas(request: IncomingMessage, allowed: readonly ApiFeature[]): void {
  const header = request.headers["anthropic-beta"];
  if (typeof header !== "string") return;
  const kept = header
    .split(",")
    .filter((name) => findForbiddenFeature(betaFeatures(name), allowed) === undefined);
  if (kept.length > 0) request.headers["anthropic-beta"] = kept.join(",");
  else delete request.headers["anthropic-beta"];
}

/** The result of checking a request; with `pass`, only `bytes` is forwarded. */
type CheckedRequest =
  | { kind: "pass"; bytes: Buffer }
  | { kind: "refuse"; status: 400 | 413 | 529; reason: string; remedy?: string }
  | { kind: "gone" };

/**
 * Checks the body of a request before it is forwarded. Refusals have status 400: the binary reports
 * a 403 as a failed login, and herdctl would then pause the credential.
 */
async function checkRequest(
  request: IncomingMessage,
  path: string,
  allowedFeatures: readonly ApiFeature[],
  bodyReader: BodyReader,
): Promise<CheckedRequest> {
  // Only messages and token counts have a meaningful body.
  if (request.method !== "POST") return { kind: "pass", bytes: Buffer.alloc(0) };
  const refuse = (reason: string, remedy?: string): CheckedRequest => ({
    kind: "refuse",
    status: 400,
    reason,
    remedy,
  });
  const bodyRead = await bodyReader.read(request);
  if (bodyRead.kind === "gone") return bodyRead;
  if (bodyRead.kind === "refused") return { ...bodyRead, kind: "refuse" };
  if (!/^[^?]*(\?beta=true)?$/.test(path))
    return refuse("the query of the request is not supported");
  const encoding = request.headers["content-encoding"] ?? "identity";
  // defence: no-encoded-body
  if (encoding !== "identity") return refuse("the body is encoded and cannot be checked");
  const parsed = parseBody(bodyRead.bytes);
  if (parsed.kind === "malformed") return refuse(parsed.reason);
  const betas = request.headers["anthropic-beta"] ?? "";
  const refusal =
    // defence: no-beta-headers
    findForbiddenFeature(betaFeatures(String(betas)), allowedFeatures) ??
    findForbiddenFeature(requestedFeatures(parsed.body), allowedFeatures);
  if (refusal) return refuse(refusal.reason, refusal.remedy);
  return { kind: "pass", bytes: parsed.bytes };
}
