import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { parseJson } from "../parse-json.ts";
import { providerProtocols } from "../providers/provider-protocols.ts";
import { splitProvider } from "../providers/provider-routes.ts";
import type { RehearsedProvider } from "../providers/rehearsed-providers.ts";
import { readAgentId, readApiKey, readSessionId } from "../request/identity.ts";
import type { Ledger, LedgerEntry } from "../request-ledger.ts";
import { createApiError } from "./api-error.ts";
import { errorResponse, jsonResponse, type PlannedResponse } from "./planned-response.ts";
import { readBody } from "./read-body.ts";
import type { Route } from "./routes.ts";
import { sendResponse } from "./send-response.ts";

export interface RequestHandlerDeps {
  /** The routes of the Anthropic API, or of a provider. */
  routes: (provider: RehearsedProvider | undefined) => readonly Route[];
  /** Accepted keys; undefined accepts any. */
  acceptedKeys: readonly string[] | undefined;
  ledger: Ledger;
  stopping: AbortSignal;
  onRequest: ((entry: LedgerEntry) => void) | undefined;
}

/** Records every request in the ledger and sends the response of its route. */
export function createRequestHandler(deps: RequestHandlerDeps): RequestListener {
  return (request, response) => {
    handleRequest(deps, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent || response.destroyed) return response.destroy();
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify(createApiError("api_error", `The rehearsal failed: ${message}`)));
    });
  };
}

async function handleRequest(
  deps: RequestHandlerDeps,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const startedAtMs = performance.now();
  const clientGone = new AbortController();
  response.once("close", () => clientGone.abort());
  const path = new URL(request.url ?? "/", "http://rehearsal").pathname;
  if (path === "/_rehearsal/ledger" && isLocal(request)) {
    await sendResponse(response, ledgerResponse(deps.ledger), clientGone.signal);
    return;
  }
  const text = await readBody(request);
  const { entry, plannedResponse } = recordRequest(deps, request, path, text);
  deps.onRequest?.(entry);
  const end = await sendResponse(response, plannedResponse, clientGone.signal);
  entry.end = deps.stopping.aborted && end === "client_gone" ? "broken_off" : end;
  entry.durationMs = Math.round(performance.now() - startedAtMs);
  deps.onRequest?.(entry);
}

/** Rejects other host names, because web pages could reach this port through DNS rebinding. */
function isLocal(request: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "");
}

function readBetas(headers: IncomingMessage["headers"]): string[] | undefined {
  const header = [headers["anthropic-beta"]].flat().join(",");
  return header === "" ? undefined : header.split(",").map((beta) => beta.trim());
}

function recordRequest(
  deps: RequestHandlerDeps,
  request: IncomingMessage,
  path: string,
  text: string | undefined,
): { entry: LedgerEntry; plannedResponse: PlannedResponse } {
  const { headers, method = "GET" } = request;
  const body = parseJson(text ?? "");
  const { provider, path: ownPath } = splitProvider(path);
  const route = deps
    .routes(provider)
    .find((candidate) => candidate.method === method && candidate.path.test(ownPath));
  const entry = deps.ledger.add({
    at: new Date().toISOString(),
    method,
    path,
    kind: route?.kind ?? "unknown",
    provider,
    key: readApiKey(headers),
    sessionId: readSessionId(headers, body),
    agentId: readAgentId(headers),
    betas: readBetas(headers),
    bodyHash: createHash("sha256")
      .update(text ?? "")
      .digest("hex"),
    body,
    stream: false,
    end: "open",
  });
  const reject = () =>
    provider === undefined
      ? rejectInvalidKey(entry.key, deps.acceptedKeys)
      : providerProtocols[provider].authenticate(
          { method, target: request.url ?? "/", headers, text: text ?? "" },
          deps.acceptedKeys,
        );
  const rejection = route && route.kind !== "probe" ? reject() : undefined;
  const plannedResponse =
    text === undefined
      ? errorResponse(413, "The request is too large.")
      : (rejection ??
        route?.plan({ headers, path: ownPath, body, entry }) ??
        errorResponse(404, `The rehearsal does not support ${method} ${path}.`));
  entry.status = plannedResponse.ending === "never" ? undefined : plannedResponse.status;
  return { entry, plannedResponse };
}

/** Rejects invalid keys with the API's error messages. */
function rejectInvalidKey(
  key: LedgerEntry["key"],
  acceptedKeys: readonly string[] | undefined,
): PlannedResponse | undefined {
  if (acceptedKeys === undefined || (key && acceptedKeys.includes(key.value))) return undefined;
  return errorResponse(401, key ? invalidKeyMessages[key.kind] : "x-api-key header is required");
}

const invalidKeyMessages = {
  "x-api-key": "invalid x-api-key",
  bearer: "Invalid bearer token",
  sigv4: "x-api-key header is required",
};

/** Shows only the first characters of keys, because any user of the machine can reach the port. */
function ledgerResponse(ledger: Ledger): PlannedResponse {
  const entries = ledger.entries.map((entry) => ({
    ...entry,
    key: entry.key && { ...entry.key, value: `${entry.key.value.slice(0, 4)}…` },
  }));
  return jsonResponse({ entries });
}
