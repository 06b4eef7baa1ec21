import type { Approval } from "@herdctl/server/contract";
import { matchApprovals } from "./asked.ts";
import type { ToolEntry } from "./entry.ts";
import type { Story } from "./story.ts";

export interface Before {
  /** What the agent said last. */
  said: string | null;
  /** The last tools that it used, in their order. */
  tools: ToolEntry[];
}

const enough = 3;

/** What an agent did just before it asked. */
export function lastBefore(story: Story, approval: Approval): Before {
  const [own] = matchApprovals([approval], story.tools.values()).byTool.keys();
  const end = story.entries.findIndex(({ key }) => key === own);
  const before = end === -1 ? story.entries : story.entries.slice(0, end);
  const said = before.findLast((entry) => entry.kind === "text");
  const tools = before.filter((entry) => entry.kind === "tool");
  return { said: said?.kind === "text" ? said.text : null, tools: tools.slice(-enough) };
}
