import type { Approval, Job } from "@herdctl/core";
import { visibleName } from "@herdctl/core/light";
import { ageText } from "./amounts.ts";
import { askedInFull } from "./approval-lines.ts";
import { harmless } from "./harmless.ts";
import type { Look } from "./look.ts";
import { answerCommands, lapseText } from "./question-lines.ts";
import { clockText } from "./wait-text.ts";

/** One request or question, and how to answer it. */
export function approvalPage(
  approval: Approval,
  job: Job | undefined,
  now: Date,
  look: Look,
): string[] {
  const answers = answerCommands(approval).map((command) => `  ${command}`);
  return [...questionLines(approval, job, now, look), ...answers, ""];
}

/** Who asks exactly what, and until when. */
export function questionLines(
  approval: Approval,
  job: Job | undefined,
  now: Date,
  look: Look,
): string[] {
  const { bold, yellow, dim } = look.colors;
  const { kind, job_id, tool, asked_at, expires_at } = approval;
  const agent = harmless(job?.agent ?? job_id);
  const what = kind === "question" ? "asks" : `asks to use ${bold(visibleName(tool))}`;
  const lapse = lapseText(approval, clockText(expires_at, now));
  return [
    `${yellow("?")} ${bold(agent)} ${what}  ${dim(job_id)}`,
    ...askedInFull(approval, look),
    dim(`  asked ${ageText(asked_at, now)} ago, ${lapse}`),
  ];
}
