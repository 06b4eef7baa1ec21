import type { DueRecord } from "@herdctl/core";
import { dueReason } from "./due-reason.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";

const hues = { ran: "green", skipped: "yellow", missed: "red" } as const;
const marks = { ran: "✓", skipped: "–", missed: "✗" } as const;

/** The ledger: one line a record. */
export function dueTable(records: DueRecord[], look: Look): string[] {
  const { dim } = look.colors;
  const columns: Column<DueRecord>[] = [
    { title: "DUE", text: dueText },
    { title: "AGENT", text: ({ agent }) => agent },
    { title: "SCHEDULE", text: ({ schedule }) => schedule },
    {
      title: "RESULT",
      text: ({ result }) => `${marks[result]} ${result}`,
      paint: ({ result }) => look.colors[hues[result]],
    },
    { title: "", text: (record) => record.job_id ?? "", spare: true, paint: () => dim },
    { title: "WHY", text: dueReason, paint: () => dim },
  ];
  return tableLines(columns, harmlessAll(records), look);
}

function dueText({ due_at, until }: DueRecord): string {
  const text = (time: string) => new Date(time).toLocaleString("sv");
  return due_at === until ? text(due_at) : `${text(due_at)} – ${text(until)}`;
}
