import type { DueTimeRecord } from "@herdctl/protocol";
import { dueReasonText } from "./due-time-reason.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

const resultColors = { ran: "green", skipped: "yellow", missed: "red" } as const;
const resultMarks = { ran: "✓", skipped: "–", missed: "✗" } as const;

/** The ledger of due times: one line per record. */
export function dueTableLines(records: DueTimeRecord[], style: TerminalStyle): string[] {
  const { dim } = style.colors;
  const columns: Column<DueTimeRecord>[] = [
    { title: "DUE", text: dueRangeText },
    { title: "AGENT", text: ({ agent }) => agent },
    { title: "SCHEDULE", text: ({ schedule }) => schedule },
    {
      title: "RESULT",
      text: ({ result }) => `${resultMarks[result]} ${result}`,
      color: ({ result }) => style.colors[resultColors[result]],
    },
    { title: "JOB", text: (record) => record.job_id ?? "", hideIfNarrow: true, color: () => dim },
    { title: "REASON", text: dueReasonText, color: () => dim },
  ];
  return tableLines(columns, sanitizeDeep(records), style);
}

function dueRangeText({ due_at, last_due_at }: DueTimeRecord): string {
  const text = (time: string) => new Date(time).toLocaleString("sv");
  return due_at === last_due_at ? text(due_at) : `${text(due_at)} – ${text(last_due_at)}`;
}
