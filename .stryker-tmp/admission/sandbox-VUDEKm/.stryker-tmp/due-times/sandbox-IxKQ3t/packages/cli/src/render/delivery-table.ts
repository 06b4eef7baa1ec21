import type { Delivery, RefusalCount } from "@herdctl/protocol";
import { formatAge, formatCount } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function deliveryTableLines(
  deliveries: Delivery[],
  now: Date,
  style: TerminalStyle,
): string[] {
  const { green, dim } = style.colors;
  const columns: Column<Delivery>[] = [
    { title: "DELIVERY", text: (delivery) => delivery.id },
    { title: "WEBHOOK", text: ({ agent, schedule }) => `${agent}/${schedule}` },
    { title: "EVENT", text: ({ event }) => event ?? "" },
    { title: "AGE", align: "right", text: ({ received_at }) => formatAge(received_at, now) },
    {
      title: "REDELIVERED",
      hideIfNarrow: true,
      align: "right",
      text: ({ redeliveries }) => (redeliveries === 0 ? "" : String(redeliveries)),
    },
    {
      title: "JOB",
      text: ({ job_id, reason }) => job_id ?? `– ${reason ?? ""}`,
      color: ({ job_id }) => (job_id === null ? dim : green),
    },
  ];
  return tableLines(columns, sanitizeDeep(deliveries), style);
}

/** Refused deliveries are only counted, not recorded. */
export function refusalLines(refusals: RefusalCount[]): string[] {
  return refusals.map(({ agent, schedule, reason, count }) => {
    const webhook = agent === null ? "unknown addresses" : `${agent}/${schedule}`;
    return `${webhook}: refused ${formatCount(count, "delivery", "deliveries")} since the fleet started: ${reason}`;
  });
}
