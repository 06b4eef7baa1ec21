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

/** The status, or the outcome where it says more. */
export function jobLabel({ status, outcome }: StatusAndOutcome): string {
  const isStatusEnough = outcome === null || outcome === "success" || outcome === status;
  return sentenceCase(isStatusEnough ? status : outcome);
}
