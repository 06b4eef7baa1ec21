import type { Approval } from "@herdctl/server/contract";
import type { ToolEntry } from "./entry.ts";
import { matchApprovals } from "./match-approvals.ts";
import type { Transcript } from "./transcript.ts";

export interface PrecedingActivity {
  /** The agent's last text. */
  lastText: string | null;
  /** The last tool calls, in order. */
  tools: ToolEntry[];
}

const maxTools = 3;

/** The agent's text and tool calls just before an approval request. */
export function findPrecedingActivity(
  transcript: Transcript,
  approval: Approval,
): PrecedingActivity {
  const [toolKey] = matchApprovals([approval], transcript.tools.values()).byTool.keys();
  const end = transcript.entries.findIndex(({ key }) => key === toolKey);
  const precedingEntries = end === -1 ? transcript.entries : transcript.entries.slice(0, end);
  const lastEntry = precedingEntries.findLast((entry) => entry.kind === "text");
  const tools = precedingEntries.filter((entry) => entry.kind === "tool");
  return {
    lastText: lastEntry?.kind === "text" ? lastEntry.text : null,
    tools: tools.slice(-maxTools),
  };
}
