import type { TimelineEntry } from "@herdctl/server/contract";
import { grouped } from "../../grouped.ts";
import { toneOf } from "../../ui/outcome.ts";
import type { Tone } from "../../ui/tone.ts";

export interface Mark {
  job: TimelineEntry;
  /** Parts of the strip, from 0 to 1. */
  from: number;
  to: number;
  tone: Tone;
}

/** Where the jobs of one agent stand on a strip from `start` to `end`; the newest come last, on top. */
export function marksOf(jobs: readonly TimelineEntry[], start: number, end: number): Mark[] {
  const place = (time: number) => Math.min(1, Math.max(0, (time - start) / (end - start)));
  return jobs
    .map((job) => {
      const from = Date.parse(job.started_at ?? job.created_at);
      const to =
        job.finished_at === null ? (isOpen(job) ? end : from) : Date.parse(job.finished_at);
      return { job, from: place(from), to: place(to), tone: toneOf(job), isSeen: to >= start };
    })
    .filter(({ isSeen }) => isSeen)
    .map(({ isSeen: _, ...mark }) => mark)
    .reverse();
}

function isOpen({ status, started_at }: TimelineEntry): boolean {
  return started_at !== null && (status === "running" || status === "waiting");
}

/** For those who cannot see it. */
export function summaryOf(marks: readonly Mark[]): string {
  if (marks.length === 0) return "nothing ran";
  const counts = grouped(marks, ({ job }) => job.status);
  const parts = [...counts].map(([status, found]) => `${found.length} ${status}`);
  return `${marks.length} jobs: ${parts.join(", ")}`;
}

/** Whole hours (or parts of one) that are worth a line on a strip. */
export function ticksOf(start: number, end: number): number[] {
  const hours = (end - start) / 3_600_000;
  const step = (hours <= 1 ? 0.25 : hours <= 6 ? 1 : 4) * 3_600_000;
  const offset = new Date(end).getTimezoneOffset() * 60_000;
  const first = Math.ceil((start - offset) / step) * step + offset;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, i) => first + i * step);
}
