import type { Job, JobStatus, OutcomeCode } from "@herdctl/core";
import { exitCodes, outcomes } from "@herdctl/core/light";
import type { Look } from "./look.ts";

export type Colour = "green" | "yellow" | "red" | "cyan" | "dim";

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

export function statusColour(job: Job, { colors }: Look): (text: string) => string {
  return colors[statusHue(job)];
}

export function statusHue({ status, outcome }: Job): Colour {
  return outcome?.code === "finished_with_denials" ? denied : marks[status].colour;
}

/** The agent came to its end, but somebody should look at what it was not allowed to do. */
const denied = "yellow";

/** Of an outcome alone, which a newer version may have invented. */
export function outcomeMark(code: string): string {
  return marks[statusAfter(code)].mark;
}

export function outcomeColour(code: string | null, { colors }: Look): (text: string) => string {
  if (code === null) return colors.dim;
  return colors[code === "finished_with_denials" ? denied : marks[statusAfter(code)].colour];
}

function statusAfter(code: string): JobStatus {
  return isKnown(code) ? outcomes[code].status : "failed";
}

function isKnown(code: string): code is OutcomeCode {
  return Object.hasOwn(outcomes, code);
}

/** A job that is not over has not succeeded. */
export function exitCodeOf({ status }: Job): number {
  return marks[status].exitCode;
}
