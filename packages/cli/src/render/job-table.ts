import type { Job, WaitExplanation } from "@herdctl/protocol";
import { formatAge, formatCost, formatDuration } from "./format-amounts.ts";
import { statusColor, statusMark, statusText } from "./job-status.ts";
import { sanitizeDeep, sanitizeText } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";

export function jobTableLines(
  jobs: Job[],
  now: Date,
  style: TerminalStyle,
  /** Why a job waits. */
  explain: (job: Job) => WaitExplanation | undefined = () => undefined,
): string[] {
  const { dim } = style.colors;
  const columns: Column<Job>[] = [
    { title: "JOB", text: (job) => job.id },
    { title: "AGENT", text: (job) => job.agent },
    {
      title: "OUTCOME",
      text: (job) => `${statusMark(job)} ${statusText(job)}`,
      color: (job) => statusColor(job, style),
    },
    { title: "AGE", align: "right", text: (job) => formatAge(job.created_at, now) },
    { title: "TOOK", hideIfNarrow: true, align: "right", text: (job) => jobDurationText(job, now) },
    {
      title: "COST",
      hideIfNarrow: true,
      align: "right",
      text: ({ cost_usd: cost }) => (cost === null ? "" : formatCost(cost)),
    },
    {
      title: "SUMMARY",
      text: (job) => sanitizeText(explain(job)?.text ?? jobSummary(job)),
      color: () => dim,
    },
  ];
  return tableLines(columns, sanitizeDeep(jobs), style);
}

function jobDurationText({ status, started_at, duration_seconds }: Job, now: Date): string {
  if (duration_seconds !== null) return formatDuration(duration_seconds);
  if (started_at === null || status === "pending") return "";
  return formatDuration((now.getTime() - Date.parse(started_at)) / 1000);
}

function jobSummary({ summary, outcome, prompt, status }: Job): string {
  const isDone = status === "completed";
  const text = (isDone ? summary : outcome?.message) ?? prompt;
  return text.trim().split("\n")[0] ?? "";
}
