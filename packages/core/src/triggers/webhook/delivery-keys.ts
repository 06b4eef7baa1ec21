import { createHash } from "node:crypto";
import { firstText } from "./read-delivery.ts";
import type { Headers, Signed } from "./verify-signature.ts";
import type { WebhookSchedule, WebhookTarget } from "./webhook-schedule.ts";

type Signature = WebhookSchedule["signature"];

export interface DeliveryKeys {
  key: string;
  /** It may have come under this one a moment ago. */
  earlier?: string;
}

const aWhile = 5 * 60_000;

/**
 * What makes every sending of the same thing the same: the sender's own id, else what was signed.
 * Where nothing tells two sendings apart, the same body within five minutes counts as one.
 */
export function deliveryKeys(
  target: WebhookTarget,
  signature: Signature,
  { headers, body, payload }: Signed & { payload: unknown },
  now: Date,
): DeliveryKeys {
  const scope = `webhook:${target.agent}/${target.schedule}`;
  const id = ids[signature.kind](headers, payload, signature);
  if (id) return { key: `${scope}:${plain(id)}` };
  const content = createHash("sha256").update(body).digest("hex");
  const signedAt = headers["x-slack-request-timestamp"];
  if (signature.kind === "slack" && signedAt) return { key: `${scope}:${content}-${signedAt}` };
  const at = Math.floor(now.getTime() / aWhile);
  return { key: `${scope}:${content}-${at}`, earlier: `${scope}:${content}-${at - 1}` };
}

const ids: Record<
  Signature["kind"],
  (headers: Headers, payload: unknown, signature: Signature) => string | null | undefined
> = {
  github: (headers) => headers["x-github-delivery"],
  standard: (headers) => headers["webhook-id"],
  slack: (_, payload) => firstText(payload, "event_id"),
  hmac: named,
  token: named,
};

function named(headers: Headers, _: unknown, { id_header }: Signature): string | undefined {
  return id_header && headers[id_header.toLowerCase()];
}

/** A sender may call it anything; what we keep it under is short and harmless. */
function plain(id: string): string {
  if (/^[\w.:-]{1,200}$/.test(id)) return id;
  return createHash("sha256").update(id).digest("hex");
}
