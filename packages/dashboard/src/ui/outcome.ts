import type { Job } from "@herdctl/server/contract";
import type { Tone } from "./tone.ts";

type Facts = Pick<Job, "status"> & { outcome: string | null };

const byStatus: Record<Job["status"], Tone> = {
  pending: "idle",
  running: "live",
  waiting: "wait",
  completed: "ok",
  failed: "bad",
  cancelled: "idle",
  skipped: "idle",
};

/** Finished, but not all of it was let through. */
const shownAsWarning = ["finished_with_denials"];

export function toneOf({ status, outcome }: Facts): Tone {
  return outcome !== null && shownAsWarning.includes(outcome) ? "warn" : byStatus[status];
}

/** Of a job that has ended, of which only the outcome is known. */
export function toneOfCode(code: string): Tone {
  if (code === "success") return "ok";
  if (shownAsWarning.includes(code)) return "warn";
  return quietCodes.includes(code) ? "idle" : "bad";
}

const quietCodes = ["cancelled", "overlap", "gate_closed", "not_allowed", "chain_limit"];

/** The word a person reads: the outcome where there is one to tell, else the status. */
export function wordOf({ status, outcome }: Facts): string {
  const isPlain = outcome === null || outcome === "success" || outcome === status;
  const word = isPlain ? status : outcome;
  return word.replaceAll("_", " ");
}
