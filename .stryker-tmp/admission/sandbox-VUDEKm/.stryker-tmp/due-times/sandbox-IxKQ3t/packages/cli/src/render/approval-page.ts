import { type Approval, escapeInvisibleInline, type Job } from "@herdctl/protocol";
import { approvalDetailLines } from "./approval-lines.ts";
import { formatAge } from "./format-amounts.ts";
import { answerCommands, expiryText } from "./question-lines.ts";
import { sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime } from "./wait-text.ts";

/** One request or question, with the commands that answer it. */
export function approvalPageLines(
  approval: Approval,
  job: Job | undefined,
  now: Date,
  style: TerminalStyle,
): string[] {
  const answers = answerCommands(approval).map((command) => `  ${command}`);
  return [...openApprovalLines(approval, job, now, style), ...answers, ""];
}

/** One request or question with its agent and expiry. */
export function openApprovalLines(
  approval: Approval,
  job: Job | undefined,
  now: Date,
  style: TerminalStyle,
): string[] {
  const { bold, yellow, dim } = style.colors;
  const { kind, job_id, tool, requested_at, expires_at } = approval;
  const agent = sanitizeText(job?.agent ?? job_id);
  const headline =
    kind === "question" ? "asks a question" : `wants to use ${bold(escapeInvisibleInline(tool))}`;
  const expiry = expiryText(approval, formatTime(expires_at, now));
  return [
    `${yellow("?")} ${bold(agent)} ${headline}  ${dim(job_id)}`,
    ...approvalDetailLines(approval, style),
    dim(`  asked ${formatAge(requested_at, now)} ago, ${expiry}`),
  ];
}
