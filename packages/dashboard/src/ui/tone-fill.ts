import type { Tone } from "./tone.ts";

/** The background class of each tone. */
export const toneFill: Record<Tone, string> = {
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  live: "bg-live",
  wait: "bg-wait",
  idle: "bg-idle",
};
