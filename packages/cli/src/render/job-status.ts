import { exitCodes, type Job, type JobStatus, type OutcomeCode, outcomes } from "@herdctl/protocol";
import type { TerminalStyle } from "./terminal-style.ts";

export type ColorName = "green" | "yellow" | "red" | "cyan" | "dim";

const statusDisplays: Record<JobStatus, { mark: string; color: ColorName; exitCode: number }> = {
  pending: { mark: "○", color: "dim", exitCode: exitCodes.jobFailed },
  running: { mark: "◐", color: "cyan", exitCode: exitCodes.jobFailed },
  waiting: { mark: "◔", color: "yellow", exitCode: exitCodes.jobFailed },
  completed: { mark: "✓", color: "green", exitCode: exitCodes.success },
  failed: { mark: "✗", color: "red", exitCode: exitCodes.jobFailed },
  cancelled: { mark: "■", color: "yellow", exitCode: exitCodes.jobFailed },
  skipped: { mark: "–", color: "yellow", exitCode: exitCodes.refused },
};

/** The outcome of a job, or its status if it has no outcome yet. */
export function statusText({ status, outcome }: Job): string {
  return outcome?.code ?? status;
}

export function statusMark({ status, outcome }: Job): string {
  return outcome?.code === "finished_with_denials" ? denialsMark : statusDisplays[status].mark;
}

export function statusColor(job: Job, { colors }: TerminalStyle): (text: string) => string {
  return colors[statusColorName(job)];
}

export function statusColorName({ status, outcome }: Job): ColorName {
  return outcome?.code === "finished_with_denials" ? denialsColor : statusDisplays[status].color;
}

/** The agent finished, but a person should look at the denied tools. */
const denialsColor = "yellow";
const denialsMark = "!";

/** The mark of an outcome code. A newer version may have added codes. */
export function outcomeMark(code: string): string {
  return code === "finished_with_denials"
    ? denialsMark
    : statusDisplays[statusOfOutcome(code)].mark;
}

export function outcomeColor(
  code: string | null,
  { colors }: TerminalStyle,
): (text: string) => string {
  if (code === null) return colors.dim;
  return colors[
    code === "finished_with_denials" ? denialsColor : statusDisplays[statusOfOutcome(code)].color
  ];
}

function statusOfOutcome(code: string): JobStatus {
  return isOutcomeCode(code) ? outcomes[code].status : "failed";
}

function isOutcomeCode(code: string): code is OutcomeCode {
  return Object.hasOwn(outcomes, code);
}

/** Unfinished jobs have the exit code of failed ones. */
export function jobExitCode({ status }: Job): number {
  return statusDisplays[status].exitCode;
}
