import type { DeliveryWithBody } from "@herdctl/protocol";
import { type Field, fieldLines } from "./field-lines.ts";
import { formatCount } from "./format-amounts.ts";
import { sanitizeDeep, sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** Everything recorded about a delivery. */
export function deliveryPageLines(
  { body, ...rawDelivery }: DeliveryWithBody,
  style: TerminalStyle,
): string[] {
  const delivery = sanitizeDeep(rawDelivery);
  const { bold, dim } = style.colors;
  const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}`);
  const fields: Field[] = [
    ["webhook", `${delivery.agent}/${delivery.schedule}`],
    ["event", delivery.event],
    ["received", new Date(delivery.received_at).toLocaleString("sv")],
    [
      "redelivered",
      delivery.redeliveries === 0 ? null : formatCount(delivery.redeliveries, "time"),
    ],
    ["replay of", delivery.replay_of],
    ["job", delivery.job_id],
    ["ignored", delivery.reason],
    ["key", delivery.dedup_key],
    ["headers", [`content-type: ${delivery.content_type}`, ...headers]],
  ];
  const lines = sanitizeText(prettyJson(body)).split("\n");
  return [bold(delivery.id), ...fieldLines(fields, style), "", ...lines.map((line) => dim(line))];
}

function prettyJson(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
