/** When hooks run: after a run, and while a job waits. */
export const hookEvents = [
  "after_run",
  "on_error",
  "on_question",
  "on_waiting",
  "on_limit",
] as const;
export type HookEvent = (typeof hookEvents)[number];
