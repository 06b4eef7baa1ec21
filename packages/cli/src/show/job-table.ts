import type { Job } from "@herdctl/core";
import { ageText, costText, durationText } from "./amounts.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { statusColour, statusMark, statusWord } from "./status.ts";
import { type Column, tableLines } from "./table.ts";

export function jobTable(jobs: Job[], now: Date, look: Look): string[] {
  const { dim } = look.colors;
  const columns: Column<Job>[] = [
    { title: "JOB", text: (job) => job.id },
    { title: "AGENT", text: (job) => job.agent },
    {
      title: "OUTCOME",
      text: (job) => `${statusMark(job)} ${statusWord(job)}`,
      paint: (job) => statusColour(job, look),
    },
    { title: "AGE", align: "right", text: (job) => ageText(job.created_at, now) },
    { title: "TOOK", spare: true, align: "right", text: (job) => tookText(job, now) },
    {
      title: "COST",
      spare: true,
      align: "right",
      text: ({ cost_usd: cost }) => (cost === null ? "" : costText(cost)),
    },
    { title: "SUMMARY", text: gistOfJob, paint: () => dim },
  ];
  return tableLines(columns, harmlessAll(jobs), look);
}

function tookText({ status, started_at, duration_seconds }: Job, now: Date): string {
  if (duration_seconds !== null) return durationText(duration_seconds);
  if (started_at === null || status === "pending") return "";
  return durationText((now.getTime() - Date.parse(started_at)) / 1000);
}

function gistOfJob({ summary, outcome, prompt, status }: Job): string {
  const isDone = status === "completed";
  const text = (isDone ? summary : outcome?.message) ?? prompt;
  return text.trim().split("\n")[0] ?? "";
}
