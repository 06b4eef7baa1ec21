import type { DeliveryWithBody } from "@herdctl/core";
import { countText } from "./amounts.ts";
import { type Field, fieldLines } from "./fields.ts";
import { harmless, harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";

/** All that is kept of a delivery. */
export function deliveryPage({ body, ...given }: DeliveryWithBody, look: Look): string[] {
  const delivery = harmlessAll(given);
  const { bold, dim } = look.colors;
  const headers = Object.entries(delivery.headers).map(([name, value]) => `${name}: ${value}`);
  const fields: Field[] = [
    ["webhook", `${delivery.agent}/${delivery.schedule}`],
    ["event", delivery.event],
    ["received", new Date(delivery.received_at).toLocaleString("sv")],
    ["again", delivery.redeliveries === 0 ? null : countText(delivery.redeliveries, "time")],
    ["replay of", delivery.replay_of],
    ["job", delivery.job_id],
    ["not wanted", delivery.reason],
    ["key", delivery.key],
    ["headers", [`content-type: ${delivery.content_type}`, ...headers]],
  ];
  const lines = harmless(pretty(body)).split("\n");
  return [bold(delivery.id), ...fieldLines(fields, look), "", ...lines.map((line) => dim(line))];
}

function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
