import type { Job } from "@herdctl/core";
import { costText, countText, durationText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import { type Look, widthInFile } from "./look.ts";
import { statusColour, statusMark, statusWord } from "./status.ts";
import { clockText } from "./wait-text.ts";
import { cut } from "./width.ts";

/** The block under a run: how it ended, what it took, and how to go on. */
export function endingLines(given: Job, turns: number | undefined, look: Look): string[] {
  const job = harmlessAll(given);
  const { bold, dim, yellow } = look.colors;
  const paint = statusColour(job, look);
  const message = job.outcome?.message ?? "";
  const isSuccess = job.outcome?.code === "success";
  return [
    `${paint(`${statusMark(job)} ${bold(statusWord(job))}`)}  ${message}`,
    ...(job.outcome && !isSuccess ? [`  ${job.outcome.hint}`] : []),
    ...job.warnings.map((warning) => yellow(`  ! ${warning}`)),
    ...[amounts(job, turns).join(" · ")].filter(Boolean).map((line) => dim(`  ${line}`)),
    ...(job.session_id ? [dim(`  session   ${job.session_id}`)] : []),
    ...resumeLines(job).map((line) => dim(`  ${line}`)),
  ];
}

/** All of it in one line, for whoever did not look on. */
export function endingLine(given: Job, look: Look): string {
  const job = harmlessAll(given);
  const head = `${statusMark(job)} ${job.id} ${statusWord(job)}`;
  const room = Math.max((look.width ?? widthInFile) - head.length - 2, 10);
  return `${statusColour(job, look)(head)}  ${cut(endingTail(job), room)}`;
}

/** What it took, and what the agent said last or why it said nothing. */
export function endingTail(job: Job): string {
  return [...amounts(job, undefined), gistOfEnd(job)].filter((one) => one !== "").join(" · ");
}

export function resumeLines(job: Job): string[] {
  const { id, agent, session_id, place, status, due_at } = job;
  // A job that waits for a time is not over: another one in its session would do the work twice.
  if (status === "waiting" && due_at !== null)
    return [`go on     herdctl start, which goes on with it from ${clockText(due_at)} on`];
  if (session_id === null) return [];
  const byHand = place === "docker" ? [] : [`by hand   herdctl sessions resume ${id}`];
  return [`go on     herdctl trigger ${agent} --resume ${id} -p "…"`, ...byHand];
}

function amounts(job: Job, turns: number | undefined): string[] {
  return [
    job.duration_seconds === null ? "" : durationText(job.duration_seconds),
    job.cost_usd === null ? "" : costText(job.cost_usd),
    turns === undefined ? "" : countText(turns, "turn"),
  ].filter((one) => one !== "");
}

function gistOfEnd(job: Job): string {
  const isDone = job.status === "completed";
  const text = isDone ? (job.summary ?? "") : (job.outcome?.message ?? "");
  return text.trim().split("\n")[0] ?? "";
}
