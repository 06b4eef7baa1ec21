import {
  type Approval,
  escapeInvisible,
  escapeInvisibleInline,
  formatPermissionRule,
} from "@herdctl/protocol";
import type { TerminalStyle } from "./terminal-style.ts";

/** The complete question, with nothing hidden, and its choices. */
export function questionDetailLines(
  { question, choices, multiple }: Approval,
  { colors }: TerminalStyle,
): string[] {
  const { bold, dim } = colors;
  const width = Math.max(0, ...(choices ?? []).map(({ label }) => label.length));
  const choiceLines = (choices ?? []).map(({ label, description }, index) => {
    const suffix = description === null ? "" : `  ${dim(escapeInvisible(description))}`;
    const number = bold(String(index + 1));
    return `  ${number}  ${escapeInvisible(label).padEnd(width)}${suffix}`.trimEnd();
  });
  const multipleHint = multiple ? [dim("  You can choose more than one.")] : [];
  const text = escapeInvisible(question ?? "").split("\n");
  return [...text.map((line) => `  ${line}`), ...choiceLines, ...multipleHint];
}

/** What happens without an answer. */
export function expiryText({ kind, default_reply }: Approval, time: string): string {
  if (kind === "permission") return `denied at ${time} unless answered`;
  if (default_reply === null)
    return `expires at ${time}; the agent then continues without an answer`;
  return `expires at ${time}; the answer is then: ${escapeInvisible(default_reply)}`;
}

/** The commands that answer it from another terminal. */
export function answerCommands(approval: Approval): string[] {
  const { id, kind, choices, free_text, multiple, suggested_rules: rules, tool } = approval;
  if (kind === "permission") {
    const rule = escapeInvisibleInline(formatPermissionRule({ rules, tool }));
    return [
      `herdctl approvals allow ${id}`,
      `herdctl approvals allow ${id} --always  # ${rule}`,
      `herdctl approvals deny ${id}`,
    ];
  }
  const numbers = multiple ? "NUMBERS" : "NUMBER";
  return [
    ...(choices === null ? [] : [`herdctl answer ${id} --choice ${numbers}`]),
    ...(free_text ? [`herdctl answer ${id} "TEXT"`] : []),
  ];
}
