import type { Tone } from "./tone.ts";

/** A tone as the colour of an area. */
export const toneFill: Record<Tone, string> = {
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  live: "bg-live",
  wait: "bg-wait",
  idle: "bg-idle",
};
