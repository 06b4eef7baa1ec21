import type { Approval, FleetStatus } from "@herdctl/core";
import { gistOf, toolName } from "@herdctl/core/light";
import { harmless, harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { cut } from "./width.ts";

const shownQuestions = 3;

/** What is asked, in short, below an empty line; nothing when nothing is. */
export function askedLines(
  { approvals, status }: { approvals: Approval[]; status: Pick<FleetStatus, "agents"> },
  { colors, width = 80 }: Look,
): string[] {
  if (approvals.length === 0) return [];
  const lines = approvals.slice(0, shownQuestions).map((approval) => {
    const agent = harmless(ownerOf(approval, status) ?? approval.job_id);
    return `? ${agent} ${askedInShort(approval)}`;
  });
  const more = approvals.length - shownQuestions;
  const all = more > 0 ? [...lines, `  and ${more} more`] : lines;
  return ["", ...all.map((line) => colors.yellow(cut(line, width)))];
}

/** `asks to use Bash: rm -rf build`, or `asks: Which colour? (Red, Blue)`. */
function askedInShort({ kind, tool, input, question, choices }: Approval): string {
  if (kind === "permission") {
    const gist = gistOf(tool, harmlessAll(input), undefined);
    return `asks to use ${harmless(toolName(tool))}: ${gist}${othersOf(input)}`;
  }
  const [first = ""] = harmless(question ?? "")
    .trim()
    .split("\n");
  const offered = choices?.map(({ label }) => harmless(label)).join(", ");
  return `asks: ${first}${offered === undefined ? "" : ` (${offered})`}`;
}

/** One line is not all: `herdctl approvals` shows every field. */
function othersOf(input: unknown): string {
  const others = Object.keys(Object(input)).length - 1;
  return others > 0 ? ` (and ${others} more field${others > 1 ? "s" : ""})` : "";
}

export function ownerOf(
  { job_id: asking }: Approval,
  { agents }: Pick<FleetStatus, "agents">,
): string | undefined {
  return agents.find(({ running }) => running.some(({ job_id }) => job_id === asking))?.name;
}
