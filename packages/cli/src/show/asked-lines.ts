import type { Approval, FleetStatus } from "@herdctl/core";
import { gistOf, toolName } from "@herdctl/core/light";
import { harmless, harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { cut } from "./width.ts";

const shownQuestions = 3;

/** What is asked, in short, below an empty line; nothing when nothing is. */
export function askedLines(
  { approvals, status }: { approvals: Approval[]; status: FleetStatus },
  { colors, width = 80 }: Look,
): string[] {
  if (approvals.length === 0) return [];
  const lines = approvals.slice(0, shownQuestions).map(({ job_id, tool, input }) => {
    const gist = gistOf(tool, harmlessAll(input), undefined);
    const agent = harmless(ownerOf(job_id, status) ?? job_id);
    return `? ${agent} asks to use ${harmless(toolName(tool))}: ${gist}`;
  });
  const more = approvals.length - shownQuestions;
  const all = more > 0 ? [...lines, `  and ${more} more`] : lines;
  return ["", ...all.map((line) => colors.yellow(cut(line, width)))];
}

function ownerOf(jobId: string, { agents }: FleetStatus): string | undefined {
  return agents.find(({ running }) => running.some(({ job_id }) => job_id === jobId))?.name;
}
