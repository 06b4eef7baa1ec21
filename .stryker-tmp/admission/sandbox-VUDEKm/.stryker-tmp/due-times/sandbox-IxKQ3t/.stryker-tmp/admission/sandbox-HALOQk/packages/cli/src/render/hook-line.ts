import type { HookRun } from "@herdctl/protocol";
import { sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";

const statusMarks = { succeeded: "✓", failed: "✗", due: "◔", running: "◐" } as const;
const statusColors = { succeeded: "green", failed: "red", due: "yellow", running: "cyan" } as const;

/** One hook run on one line: status, position in the configuration, result of the last attempt. */
export function hookLine(run: HookRun, style: TerminalStyle): string {
  const { status, event, position, type, attempts, message, due_at } = run;
  const statusText = style.colors[statusColors[status]](`${statusMarks[status]} ${status}`);
  const attemptsText = attempts > 1 ? ` after ${attempts} attempts` : "";
  const retryText =
    due_at && attempts > 0 ? `, next attempt at ${new Date(due_at).toLocaleString("sv")}` : "";
  const messageText = message === null ? "" : `: ${sanitizeText(message)}`;
  return `${statusText} ${event}[${position}] ${type}${messageText}${attemptsText}${retryText}  ${style.colors.dim(run.id)}`;
}
