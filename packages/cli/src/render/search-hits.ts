import type { JobSearchHit } from "@herdctl/protocol";
import { formatAge } from "./format-amounts.ts";
import { statusColor, statusMark, statusText } from "./job-status.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function searchHitLines(
  hits: readonly JobSearchHit[],
  now: Date,
  style: TerminalStyle,
): string[] {
  if (hits.length === 0) return [];
  const { dim } = style.colors;
  const columns: Column<JobSearchHit>[] = [
    { title: "JOB", text: ({ job }) => job.id },
    { title: "AGENT", text: ({ job }) => job.agent },
    {
      title: "OUTCOME",
      text: ({ job }) => `${statusMark(job)} ${statusText(job)}`,
      color: ({ job }) => statusColor(job, style),
    },
    { title: "AGE", align: "right", text: ({ job }) => formatAge(job.created_at, now) },
    { title: "IN", hideIfNarrow: true, text: ({ field }) => field, color: () => dim },
    { title: "TEXT", text: ({ excerpt }) => excerpt },
  ];
  return tableLines(columns, sanitizeDeep([...hits]), style);
}
