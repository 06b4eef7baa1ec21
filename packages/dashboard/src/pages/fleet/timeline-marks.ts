import type { TimelineEntry } from "@herdctl/server/contract";
import { groupBy } from "../../group-by.ts";
import { formatCountOf } from "../../ui/format-quantities.ts";
import { jobTone } from "../../ui/outcome-tone.ts";
import type { Tone } from "../../ui/tone.ts";

export interface TimelineMark {
  job: TimelineEntry;
  /** Positions on the strip, from 0 to 1. */
  from: number;
  to: number;
  tone: Tone;
}

/**
 * Positions the jobs of one agent on a strip from `start` to `end`. The newest come last, on top.
 * A skipped job did not run, so it has no mark.
 */
export function toMarks(
  jobs: readonly TimelineEntry[],
  start: number,
  end: number,
): TimelineMark[] {
  const toPosition = (time: number) => Math.min(1, Math.max(0, (time - start) / (end - start)));
  return jobs
    .map((job) => {
      const from = Date.parse(job.started_at ?? job.created_at);
      const to =
        job.finished_at === null ? (isRunning(job) ? end : from) : Date.parse(job.finished_at);
      return {
        job,
        from: toPosition(from),
        to: toPosition(to),
        tone: jobTone(job),
        isVisible: to >= start && job.status !== "skipped",
      };
    })
    .filter(({ isVisible }) => isVisible)
    .map(({ isVisible: _, ...mark }) => mark)
    .reverse();
}

function isRunning({ status, started_at }: TimelineEntry): boolean {
  return started_at !== null && (status === "running" || status === "waiting");
}

/** The accessible name of a strip. */
export function summarizeMarks(marks: readonly TimelineMark[]): string {
  if (marks.length === 0) return "no jobs";
  const counts = groupBy(marks, ({ job }) => job.status);
  const parts = [...counts].map(([status, marksOfStatus]) => `${marksOfStatus.length} ${status}`);
  return `${formatCountOf(marks.length, "job")}: ${parts.join(", ")}`;
}

/** The times of the vertical lines on a strip: full hours or fractions of an hour. */
export function hourTicks(start: number, end: number): number[] {
  const hours = (end - start) / 3_600_000;
  const step = (hours <= 1 ? 0.25 : hours <= 6 ? 1 : 4) * 3_600_000;
  const offset = new Date(end).getTimezoneOffset() * 60_000;
  const first = Math.ceil((start - offset) / step) * step + offset;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, i) => first + i * step);
}
