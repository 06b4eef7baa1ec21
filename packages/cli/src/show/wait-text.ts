import type { Job } from "@herdctl/core";

/** Why a job waits and until when: `usage_limit until 15:00`. */
export function waitText({ outcome, due_at }: Pick<Job, "outcome" | "due_at">): string {
  const until = due_at ?? outcome?.resets_at;
  const end = until === undefined ? "" : ` until ${clockText(until)}`;
  return `${outcome?.code ?? "waiting"}${end}`;
}

/** `15:00`, with the day when it is not today's. */
export function clockText(time: string, now = new Date()): string {
  const date = new Date(time);
  const isToday = date.toDateString() === now.toDateString();
  return date.toLocaleString(
    "sv",
    isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "short" },
  );
}
