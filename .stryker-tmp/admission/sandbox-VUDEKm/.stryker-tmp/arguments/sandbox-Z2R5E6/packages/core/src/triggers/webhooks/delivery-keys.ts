import { createHash } from "node:crypto";
import { firstNonEmptyText } from "./read-delivery.ts";
import type { RequestHeaders, SignedRequest } from "./verify-signature.ts";
import type { WebhookSchedule, WebhookTarget } from "./webhook-schedule.ts";

type Signature = WebhookSchedule["signature"];

export interface DeliveryKeys {
  key: string;
  /** The delivery may have arrived under this key shortly before. */
  previousWindowKey?: string;
}

const dedupWindowMs = 5 * 60_000;

/**
 * The key is the same for every transmission of a delivery: the sender's id, else the signed
 * content. If neither distinguishes two transmissions, equal bodies within five minutes count as
 * one.
 */
export function deliveryKeys(
  target: WebhookTarget,
  signature: Signature,
  { headers, body, payload }: SignedRequest & { payload: unknown },
  now: Date,
): DeliveryKeys {
  const scope = `webhook:${target.agent}/${target.schedule}`;
  const id = deliveryIdReaders[signature.kind](headers, payload, signature);
  if (id) return { key: `${scope}:${/* defence: delivery-key */ normalizeId(id)}` };
  const content = createHash("sha256").update(body).digest("hex");
  const signedAt = headers["x-slack-request-timestamp"];
  if (signature.kind === "slack" && signedAt) return { key: `${scope}:${content}-${signedAt}` };
  const windowIndex = Math.floor(now.getTime() / dedupWindowMs);
  return {
    key: `${scope}:${content}-${windowIndex}`,
    previousWindowKey: `${scope}:${content}-${windowIndex - 1}`,
  };
}

const deliveryIdReaders: Record<
  Signature["kind"],
  (headers: RequestHeaders, payload: unknown, signature: Signature) => string | null | undefined
> = {
  github: (headers) => headers["x-github-delivery"],
  standard: (headers) => headers["webhook-id"],
  slack: (_, payload) => firstNonEmptyText(payload, "event_id"),
  hmac: readConfiguredId,
  token: readConfiguredId,
};

function readConfiguredId(
  headers: RequestHeaders,
  _: unknown,
  { id_header }: Signature,
): string | undefined {
  return id_header && headers[id_header.toLowerCase()];
}

/** A sender may use any id; the stored id is short and harmless. */
function normalizeId(id: string): string {
  if (/^[\w.:-]{1,200}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex");
}
