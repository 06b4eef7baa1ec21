import type { Approval, Job } from "@herdctl/core";
import { ageText } from "./amounts.ts";
import { inputFields } from "./approval-lines.ts";
import { fieldLines } from "./fields.ts";
import { harmless, visible } from "./harmless.ts";
import type { Look } from "./look.ts";
import { clockText } from "./wait-text.ts";

/** One request, and how to answer it. */
export function approvalPage(
  approval: Approval,
  job: Job | undefined,
  now: Date,
  look: Look,
): string[] {
  const answers = ["allow", "deny"].map((word) => `  herdctl approvals ${word} ${approval.id}`);
  return [...questionLines(approval, job, now, look), ...answers, ""];
}

/** Who asks for exactly what, and until when. */
export function questionLines(
  { job_id, tool, input, asked_at, expires_at }: Approval,
  job: Job | undefined,
  now: Date,
  look: Look,
): string[] {
  const { bold, yellow, dim } = look.colors;
  const agent = harmless(job?.agent ?? job_id);
  const times = `asked ${ageText(asked_at, now)} ago, denied at ${clockText(expires_at, now)} without an answer`;
  return [
    `${yellow("?")} ${bold(agent)} asks to use ${bold(visible(tool))}  ${dim(job_id)}`,
    ...fieldLines(inputFields(input), { ...look, width: undefined }),
    dim(`  ${times}`),
  ];
}
