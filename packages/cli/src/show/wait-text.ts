import type { Job } from "@herdctl/core";

/** Why a job waits and until when: `usage_limit until 15:00`. */
export function waitText({ outcome }: Pick<Job, "outcome">): string {
  const until = outcome?.resets_at === undefined ? "" : ` until ${clockText(outcome.resets_at)}`;
  return `${outcome?.code ?? "waiting"}${until}`;
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
