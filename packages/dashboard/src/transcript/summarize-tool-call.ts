import { escapeInvisible } from "@herdctl/server/contract";
import type { ToolEntry } from "./entry.ts";
import { toFieldsList, toText, type UnknownFields } from "./unknown-fields.ts";

/** The most important input of a tool call, on one line. */
export function summarizeToolCall(
  { tool, input }: Pick<ToolEntry, "tool" | "input">,
  cwd: string | null,
): string {
  const summarize = summarizersByTool[tool] ?? firstText;
  return escapeInvisible(summarize(input, (path) => shortenPath(toText(path), cwd)))
    .trim()
    .replace(/\s*\n\s*/g, " ⏎ ");
}

/** `github · create_issue` for `mcp__github__create_issue`. */
export function formatToolName(tool: string): string {
  const [prefix, server, ...rest] = tool.split("__");
  return prefix === "mcp" && rest.length > 0 ? `${server} · ${rest.join("__")}` : tool;
}

type Summarizer = (input: UnknownFields, shorten: (path: unknown) => string) => string;

const summarizeFile: Summarizer = (input, shorten) =>
  shorten(input.file_path ?? input.notebook_path);
const summarizeSearch: Summarizer = ({ pattern, path }, shorten) =>
  path === undefined ? toText(pattern) : `${toText(pattern)} in ${shorten(path)}`;
const summarizeDescription: Summarizer = ({ description }) => toText(description);

const summarizersByTool: Record<string, Summarizer> = {
  Bash: ({ command }) => toText(command),
  Read: summarizeFile,
  Edit: summarizeFile,
  Write: summarizeFile,
  NotebookEdit: summarizeFile,
  Grep: summarizeSearch,
  Glob: summarizeSearch,
  WebFetch: ({ url }) => toText(url),
  WebSearch: ({ query }) => toText(query),
  Agent: summarizeDescription,
  Task: summarizeDescription,
  AskUserQuestion: ({ questions }) =>
    toFieldsList(questions)
      .map(({ question }) => toText(question))
      .join(" "),
  mcp__herd__delegate: ({ agent, prompt }) => `${toText(agent)}: ${toText(prompt)}`,
};

const firstText: Summarizer = (input) => {
  const text = Object.values(input).find((value) => typeof value === "string" && value !== "");
  return toText(text);
};

function shortenPath(path: string, cwd: string | null): string {
  return cwd !== null && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
