import type { Delivery, Refusal } from "@herdctl/core";
import { ageText, countText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

export function deliveryTable(deliveries: Delivery[], now: Date, look: Look): string[] {
  const { green, dim } = look.colors;
  const columns: Column<Delivery>[] = [
    { title: "DELIVERY", text: (delivery) => delivery.id },
    { title: "WEBHOOK", text: ({ agent, schedule }) => `${agent}/${schedule}` },
    { title: "EVENT", text: ({ event }) => event ?? "" },
    { title: "AGE", align: "right", text: ({ received_at }) => ageText(received_at, now) },
    {
      title: "AGAIN",
      spare: true,
      align: "right",
      text: ({ redeliveries }) => (redeliveries === 0 ? "" : String(redeliveries)),
    },
    {
      title: "JOB",
      text: ({ job_id, reason }) => job_id ?? `– ${reason ?? ""}`,
      paint: ({ job_id }) => (job_id === null ? dim : green),
    },
  ];
  return tableLines(columns, harmlessAll(deliveries), look);
}

/** What was refused left no more than this. */
export function refusalLines(refused: Refusal[]): string[] {
  return refused.map(({ agent, schedule, reason, count }) => {
    const where = agent === null ? "addresses that are none" : `${agent}/${schedule}`;
    return `refused ${countText(count, "time")} since the fleet started: ${where}: ${reason}`;
  });
}
