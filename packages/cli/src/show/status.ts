import { exitCodes, type Job, type JobStatus } from "@herdctl/core";
import type { Look } from "./look.ts";

type Colour = "green" | "yellow" | "red" | "cyan" | "dim";

const marks: Record<JobStatus, { mark: string; colour: Colour; exitCode: number }> = {
  pending: { mark: "○", colour: "dim", exitCode: exitCodes.jobFailed },
  running: { mark: "◐", colour: "cyan", exitCode: exitCodes.jobFailed },
  waiting: { mark: "◔", colour: "yellow", exitCode: exitCodes.jobFailed },
  completed: { mark: "✓", colour: "green", exitCode: exitCodes.success },
  failed: { mark: "✗", colour: "red", exitCode: exitCodes.jobFailed },
  cancelled: { mark: "■", colour: "yellow", exitCode: exitCodes.jobFailed },
  skipped: { mark: "–", colour: "yellow", exitCode: exitCodes.refused },
};

/** How a job stands in one word: its outcome once it has one, else its status. */
export function statusWord({ status, outcome }: Job): string {
  return outcome?.code ?? status;
}

export function statusMark({ status }: Job): string {
  return marks[status].mark;
}

export function statusColour({ status, outcome }: Job, { colors }: Look): (text: string) => string {
  // The agent came to its end, but somebody should look at what it was not allowed to do.
  const isDenied = outcome?.code === "finished_with_denials";
  return colors[isDenied ? "yellow" : marks[status].colour];
}

/** A job that is not over has not succeeded. */
export function exitCodeOf({ status }: Job): number {
  return marks[status].exitCode;
}
