import type { RewindPoint } from "@herdctl/protocol";
import { formatAge } from "./format-amounts.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function rewindPointLines(points: RewindPoint[], now: Date, style: TerminalStyle): string[] {
  const columns: Column<RewindPoint>[] = [
    { title: "MESSAGE", text: ({ message }) => message },
    { title: "SENT", align: "right", text: ({ at }) => (at === null ? "-" : formatAge(at, now)) },
    { title: "JOB", text: ({ of_job }) => (of_job ? "this" : "") },
    { title: "PROMPT", text: ({ prompt }) => prompt },
  ];
  return tableLines(columns, sanitizeDeep(points), style);
}
