import { visible } from "@herdctl/server/contract";
import type { ToolEntry } from "./entry.ts";
import { type Fields, listOf, textOf } from "./fields.ts";

/** The telling part of a tool call on one line. */
export function gistOf(
  { tool, input }: Pick<ToolEntry, "tool" | "input">,
  cwd: string | null,
): string {
  const gist = gists[tool] ?? firstText;
  return visible(gist(input, (path) => shortened(textOf(path), cwd)))
    .trim()
    .replace(/\s*\n\s*/g, " ⏎ ");
}

/** `github · create_issue` for `mcp__github__create_issue`. */
export function toolName(tool: string): string {
  const [prefix, server, ...rest] = tool.split("__");
  return prefix === "mcp" && rest.length > 0 ? `${server} · ${rest.join("__")}` : tool;
}

type Gist = (input: Fields, short: (path: unknown) => string) => string;

const file: Gist = (input, short) => short(input.file_path ?? input.notebook_path);
const search: Gist = ({ pattern, path }, short) =>
  path === undefined ? textOf(pattern) : `${textOf(pattern)} in ${short(path)}`;
const described: Gist = ({ description }) => textOf(description);

const gists: Record<string, Gist> = {
  Bash: ({ command }) => textOf(command),
  Read: file,
  Edit: file,
  Write: file,
  NotebookEdit: file,
  Grep: search,
  Glob: search,
  WebFetch: ({ url }) => textOf(url),
  WebSearch: ({ query }) => textOf(query),
  Agent: described,
  Task: described,
  AskUserQuestion: ({ questions }) =>
    listOf(questions)
      .map(({ question }) => textOf(question))
      .join(" "),
  mcp__herd__delegate: ({ agent, prompt }) => `${textOf(agent)}: ${textOf(prompt)}`,
};

const firstText: Gist = (input) => {
  const found = Object.values(input).find((value) => typeof value === "string" && value !== "");
  return textOf(found);
};

function shortened(path: string, cwd: string | null): string {
  return cwd !== null && path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path;
}
