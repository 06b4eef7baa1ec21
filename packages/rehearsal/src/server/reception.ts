import { createHash } from "node:crypto";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Ledger, LedgerEntry } from "../ledger.ts";
import { agentOf, keyOf, parseJson, sessionOf } from "../request/identity.ts";
import { deliver } from "./deliver.ts";
import { type Delivery, errorDelivery, jsonDelivery } from "./delivery.ts";
import { readBody } from "./read-body.ts";
import type { Route } from "./routes.ts";

export interface Reception {
  routes: Route[];
  ledger: Ledger;
  stopping: AbortSignal;
  onRequest: ((entry: LedgerEntry) => void) | undefined;
}

/** Takes every request, writes it into the ledger, and sends what its route decides. */
export function receive(reception: Reception): RequestListener {
  return (request, response) => {
    attend(reception, request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  };
}

async function attend(reception: Reception, request: IncomingMessage, response: ServerResponse) {
  const began = performance.now();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const path = new URL(request.url ?? "/", "http://rehearsal").pathname;
  if (path === "/_rehearsal/ledger") {
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
  const delivery =
    text === undefined
      ? errorDelivery(413, "The request is larger than any real one.")
      : (route?.plan({ headers, path, body, entry }) ??
        errorDelivery(404, `The rehearsal has no ${method} ${path}.`));
  if (delivery.end !== "never") entry.status = delivery.status;
  return { entry, delivery };
}

/** Any user of the machine may reach the port, so keys are shown by their beginning only. */
function showLedger(ledger: Ledger): Delivery {
  const entries = ledger.entries.map((entry) => ({
    ...entry,
    key: entry.key && { ...entry.key, value: `${entry.key.value.slice(0, 4)}…` },
  }));
  return jsonDelivery({ entries });
}
