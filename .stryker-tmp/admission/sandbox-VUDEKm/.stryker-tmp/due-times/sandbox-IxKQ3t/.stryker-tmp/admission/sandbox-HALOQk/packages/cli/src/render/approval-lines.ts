import { type Approval, escapeInvisibleInline, formatInputFields } from "@herdctl/protocol";
import { fieldLines } from "./field-lines.ts";
import { expiryText, questionDetailLines } from "./question-lines.ts";
import type { TerminalStyle } from "./terminal-style.ts";

/** The complete request of an agent, with nothing hidden: a person decides by it. */
export function approvalLines(approval: Approval, style: TerminalStyle): string[] {
  const { bold, yellow, dim } = style.colors;
  const { kind, tool, expires_at } = approval;
  const until = new Date(expires_at).toLocaleTimeString("sv", { timeStyle: "short" });
  const head =
    kind === "question"
      ? "The agent asks a question"
      : `The agent wants to use ${bold(escapeInvisibleInline(tool))}`;
  return [
    "",
    yellow(`? ${head}`),
    ...approvalDetailLines(approval, style),
    dim(`  ${expiryText(approval, until)}`),
  ];
}

/** The question or the tool input, for below the headline. */
export function approvalDetailLines(approval: Approval, style: TerminalStyle): string[] {
  return approval.kind === "question"
    ? questionDetailLines(approval, style)
    : fieldLines(formatInputFields(approval.input), { ...style, width: undefined });
}
