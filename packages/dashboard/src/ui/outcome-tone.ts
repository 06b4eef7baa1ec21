import type { Job } from "@herdctl/server/contract";
import { sentenceCase } from "./sentence-case.ts";
import type { Tone } from "./tone.ts";

type StatusAndOutcome = Pick<Job, "status"> & { outcome: string | null };

const toneByStatus: Record<Job["status"], Tone> = {
  pending: "idle",
  running: "live",
  waiting: "wait",
  completed: "ok",
  failed: "bad",
  cancelled: "idle",
  skipped: "idle",
};

/** Finished, but some tool calls were denied. */
const warningCodes = ["finished_with_denials"];

export function jobTone({ status, outcome }: StatusAndOutcome): Tone {
  return outcome !== null && warningCodes.includes(outcome) ? "warn" : toneByStatus[status];
}

/** The tone of a finished job, by its outcome code. */
export function outcomeTone(code: string): Tone {
  if (code === "success") return "ok";
  if (warningCodes.includes(code)) return "warn";
  return quietCodes.includes(code) ? "idle" : "bad";
}

const quietCodes = ["cancelled", "overlap", "gate_closed", "not_allowed", "chain_limit"];

/** The outcome, with the same word on every page and in the command line, or else the status. */
export function jobLabel({ status, outcome }: StatusAndOutcome): string {
  return sentenceCase(outcome ?? status);
}
