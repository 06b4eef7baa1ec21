import {
  type Approval,
  displayToolName,
  type FleetStatus,
  summarizeToolCall,
} from "@herdctl/protocol";
import { sanitizeDeep, sanitizeText } from "./sanitize-text.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { truncate } from "./text-width.ts";

const maxShownApprovals = 3;

/** A blank line and a short form of each pending approval; empty if there are none. */
export function pendingApprovalLines(
  { approvals, status }: { approvals: Approval[]; status: Pick<FleetStatus, "agents"> },
  { colors, width = 80 }: TerminalStyle,
): string[] {
  if (approvals.length === 0) return [];
  const lines = approvals.slice(0, maxShownApprovals).map((approval) => {
    const agent = sanitizeText(agentOfApproval(approval, status) ?? approval.job_id);
    return `? ${agent} ${approvalSummary(approval)}`;
  });
  const more = approvals.length - maxShownApprovals;
  const all = more > 0 ? [...lines, `  and ${more} more`] : lines;
  return ["", ...all.map((line) => colors.yellow(truncate(line, width)))];
}

/** `wants to use Bash: rm -rf build`, or `asks: Which colour? (Red, Blue)`. */
function approvalSummary({ kind, tool, input, question, choices }: Approval): string {
  if (kind === "permission") {
    const summary = summarizeToolCall(tool, sanitizeDeep(input), undefined);
    const toolName = sanitizeText(displayToolName(tool));
    return `wants to use ${toolName}: ${summary}${otherFieldsText(input)}`;
  }
  const [first = ""] = sanitizeText(question ?? "")
    .trim()
    .split("\n");
  const choiceLabels = choices?.map(({ label }) => sanitizeText(label)).join(", ");
  return `asks: ${first}${choiceLabels === undefined ? "" : ` (${choiceLabels})`}`;
}

/** The summary shows one field; `herdctl approvals` shows all of them. */
function otherFieldsText(input: unknown): string {
  const others = Object.keys(Object(input)).length - 1;
  return others > 0 ? ` (and ${others} more field${others > 1 ? "s" : ""})` : "";
}

export function agentOfApproval(
  { job_id: approvalJobId }: Approval,
  { agents }: Pick<FleetStatus, "agents">,
): string | undefined {
  return agents.find(({ running }) => running.some(({ job_id }) => job_id === approvalJobId))?.name;
}
