import type { Job } from "@herdctl/protocol";

/** Why a job waits and until when: `usage_limit until 15:00: The usage limit is reached.` */
export function formatWait({ outcome, due_at }: Pick<Job, "outcome" | "due_at">): string {
  const until = due_at ?? outcome?.resets_at;
  const end = until === undefined ? "" : ` until ${formatTime(until)}`;
  const message = outcome ? `: ${outcome.message}` : "";
  return `${outcome?.code ?? "waiting"}${end}${message}`;
}

/** `15:00:00`, or with the date if it is not today. */
export function formatTime(time: string, now = new Date()): string {
  const date = new Date(time);
  const isToday = date.toDateString() === now.toDateString();
  return date.toLocaleString(
    "sv",
    isToday ? { timeStyle: "medium" } : { dateStyle: "short", timeStyle: "short" },
  );
}
