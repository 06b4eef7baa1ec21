import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { parseJson } from "../parse-json.ts";
import { agentOf, keyOf, sessionOf } from "../request/identity.ts";
import { apiError } from "./api-error.ts";
import { deliver } from "./deliver.ts";
import { type Delivery, errorDelivery, jsonDelivery } from "./delivery.ts";
import { readBody } from "./read-body.ts";
import type { Route } from "./routes.ts";

export interface Reception {
  routes: Route[];
  /** Those that are taken; any, when undefined. */
  keys: readonly string[] | undefined;
  ledger: Ledger;
  stopping: AbortSignal;
  onRequest: ((entry: LedgerEntry) => void) | undefined;
}

/** Takes every request, writes it into the ledger, and sends what its route decides. */
export function receive(reception: Reception): RequestListener {
  return (request, response) => {
    attend(reception, request, response).catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      if (response.headersSent || response.destroyed) return response.destroy();
      response.writeHead(500, { "content-type": "application/json" });
      response.end(JSON.stringify(apiError("api_error", `The rehearsal failed: ${message}`)));
    });
  };
}

async function attend(reception: Reception, request: IncomingMessage, response: ServerResponse) {
  const began = performance.now();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const path = new URL(request.url ?? "/", "http://rehearsal").pathname;
  if (path === "/_rehearsal/ledger" && isLocal(request)) {
    await deliver(response, showLedger(reception.ledger), gone.signal);
    return;
  }
  const text = await readBody(request);
  const { entry, delivery } = record(reception, request, path, text);
  reception.onRequest?.(entry);
  const end = await deliver(response, delivery, gone.signal);
  entry.end = reception.stopping.aborted && end === "client_gone" ? "broken_off" : end;
  entry.durationMs = Math.round(performance.now() - began);
  reception.onRequest?.(entry);
}

/** A page in a browser reaches this port under a name of its own. */
function isLocal(request: IncomingMessage): boolean {
  return /^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? "");
}

function record(
  reception: Reception,
  request: IncomingMessage,
  path: string,
  text: string | undefined,
): { entry: LedgerEntry; delivery: Delivery } {
  const { headers, method = "GET" } = request;
  const body = parseJson(text ?? "");
  const route = reception.routes.find((one) => one.method === method && one.path.test(path));
  const entry = reception.ledger.add({
    at: new Date().toISOString(),
    method,
    path,
    kind: route?.kind ?? "unknown",
    key: keyOf(headers),
    sessionId: sessionOf(headers, body),
    agentId: agentOf(headers),
    bodyHash: createHash("sha256")
      .update(text ?? "")
      .digest("hex"),
    body,
    stream: false,
    end: "open",
  });
  const refusal =
    route && route.kind !== "probe" ? refusalOf(entry.key, reception.keys) : undefined;
  const delivery =
    text === undefined
      ? errorDelivery(413, "The request is larger than any real one.")
      : (refusal ??
        route?.plan({ headers, path, body, entry }) ??
        errorDelivery(404, `The rehearsal has no ${method} ${path}.`));
  entry.status = delivery.end === "never" ? undefined : delivery.status;
  return { entry, delivery };
}

/** In the words of the API. */
function refusalOf(
  key: LedgerEntry["key"],
  keys: readonly string[] | undefined,
): Delivery | undefined {
  if (keys === undefined || (key && keys.includes(key.value))) return undefined;
  return errorDelivery(401, key ? words[key.kind] : "x-api-key header is required");
}

const words = { "x-api-key": "invalid x-api-key", bearer: "Invalid bearer token" };

/** Any user of the machine may reach the port, so keys are shown by their beginning only. */
function showLedger(ledger: Ledger): Delivery {
  const entries = ledger.entries.map((entry) => ({
    ...entry,
    key: entry.key && { ...entry.key, value: `${entry.key.value.slice(0, 4)}…` },
  }));
  return jsonDelivery({ entries });
}
