import type { Job } from "@herdctl/server/contract";
import type { Entry, ToolEntry } from "./entry.ts";
import { formatToolName } from "./summarize-tool-call.ts";

/** The conversation of a job as Markdown, to read it elsewhere. The log has every detail. */
export function formatTranscript(job: Job, entries: readonly Entry[]): string {
  const title = `# ${job.agent}: ${job.id}`;
  const facts = [
    `- Created: ${job.created_at}`,
    `- Outcome: ${job.outcome?.code ?? job.status}`,
    ...(job.cost_usd === null ? [] : [`- Cost: $${job.cost_usd}`]),
  ];
  const sections = entries.map((entry) => formatEntry(entry, 2)).filter((text) => text !== "");
  return `${[title, facts.join("\n"), `## Prompt\n\n${job.prompt}`, ...sections].join("\n\n")}\n`;
}

function formatEntry(entry: Entry, level: number): string {
  switch (entry.kind) {
    case "text":
      return entry.text.trim();
    case "thinking":
      return quote(entry.text.trim());
    case "tool":
      return formatTool(entry, level);
    case "user":
      return `${heading(level)} Message to the agent\n\n${entry.text}`;
    case "marker":
      return `*${entry.text}*`;
    case "end":
      return entry.isError ? `${heading(level)} Failed\n\n${entry.text}` : "";
  }
}

function formatTool(tool: ToolEntry, level: number): string {
  const { input, result, deniedReason, children } = tool;
  const parts = [
    `${heading(level)} ${formatToolName(tool.tool)}`,
    fence(JSON.stringify(input, null, 2), "json"),
    deniedReason === null ? "" : `Denied: ${deniedReason}`,
    ...children.map((child) => formatEntry(child, level + 1)),
    result === null ? "" : `${result.isError ? "Error" : "Result"}:\n\n${fence(result.text)}`,
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function heading(level: number): string {
  return "#".repeat(Math.min(6, level));
}

function quote(text: string): string {
  return text === "" ? "" : text.replaceAll(/^/gm, "> ");
}

/** A fence that is longer than every run of backquotes in the text. */
function fence(text: string, language = ""): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${text}\n${marks}`;
}
