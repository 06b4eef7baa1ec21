import type { Job } from "@herdctl/protocol";
import { formatCost, formatCount, formatDuration } from "./format-amounts.ts";
import { statusColor, statusMark, statusText } from "./job-status.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { fallbackWidthColumns, type TerminalStyle } from "./terminal-style.ts";
import { truncate } from "./text-width.ts";
import { formatTime } from "./wait-text.ts";

/** The block below a run: outcome, duration and cost, and how to resume the session. */
export function jobEndLines(
  rawJob: Job,
  turns: number | undefined,
  style: TerminalStyle,
): string[] {
  const job = sanitizeDeep(rawJob);
  const { bold, dim, yellow } = style.colors;
  const colorize = statusColor(job, style);
  const message = job.outcome?.message ?? "";
  const hint = hintOf(job);
  return [
    `${colorize(`${statusMark(job)} ${bold(statusText(job))}`)}  ${message}`,
    ...(hint === undefined ? [] : [`  ${hint}`]),
    ...job.warnings.map((warning) => yellow(`  ! ${warning}`)),
    ...[runStats(job, turns).join(" · ")].filter(Boolean).map((line) => dim(`  ${line}`)),
    ...(job.session_id ? [dim(`  session   ${job.session_id}`)] : []),
    ...resumeHints(job).map(([label, command]) => dim(`  ${label.padEnd(9)} ${command}`)),
  ];
}

/** The end of a job for `trigger` without `--wait`: one line, and the hint of a failure. */
export function shortJobEndLines(rawJob: Job, style: TerminalStyle): string[] {
  const job = sanitizeDeep(rawJob);
  const head = `${statusMark(job)} ${job.id} ${statusText(job)}`;
  const room = Math.max((style.width ?? fallbackWidthColumns) - head.length - 2, 10);
  const line = `${statusColor(job, style)(head)}  ${truncate(jobEndSummary(job), room)}`;
  const hint = hintOf(job);
  return hint === undefined ? [line] : [line, `  ${hint}`];
}

function hintOf({ outcome }: Job): string | undefined {
  return outcome === null || outcome.code === "success" ? undefined : outcome.hint;
}

/** Duration, cost, and the agent's summary or the reason of the failure and its hint. */
export function jobEndSummary(job: Job): string {
  return [...runStats(job, undefined), jobResultText(job)].filter((one) => one !== "").join(" · ");
}

type Hint = [label: string, command: string];

/** Commands that resume the session of the job. */
export function resumeHints(job: Job): Hint[] {
  const { id, agent, session_id, session_home, status, due_at } = job;
  // The job retries later: another job in its session would do the work twice.
  if (status === "waiting" && due_at !== null)
    return [
      ["continues", `at ${formatTime(due_at)} while the fleet runs: herdctl start`],
      ["try now", `herdctl retry ${id} --try-now`],
    ];
  if (session_id === null) return [];
  const resume: Hint = ["resume", `herdctl trigger ${agent} --resume ${id} -p "…"`];
  const byHand: Hint = ["by hand", `herdctl sessions resume ${id}`];
  return session_home === "docker" ? [resume] : [resume, byHand];
}

function runStats(job: Job, turns: number | undefined): string[] {
  return [
    job.duration_seconds === null ? "" : formatDuration(job.duration_seconds),
    job.cost_usd === null ? "" : formatCost(job.cost_usd),
    turns === undefined ? "" : formatCount(turns, "turn"),
  ].filter((one) => one !== "");
}

function jobResultText(job: Job): string {
  const isDone = job.status === "completed";
  const text = isDone ? (job.summary ?? "") : (job.outcome?.message ?? "");
  return text.trim().split("\n")[0] ?? "";
}
