import { shortPath } from "./short-path.ts";

/** The telling part of a tool call on one line, with paths as seen from the agent's folder. */
export function gistOf(tool: string, input: unknown, folder: string | undefined): string {
  if (typeof input !== "object" || input === null) return "";
  const fields: Fields = { ...input };
  const own = gists[tool]?.(fields, (path) => shortPath(text(path), folder));
  return oneLine(own ?? firstText(fields));
}

/** `github · create_issue` for `mcp__github__create_issue`. */
export function toolName(tool: string): string {
  const [prefix, server, ...rest] = tool.split("__");
  return prefix === "mcp" && rest.length > 0 ? `${server} · ${rest.join("__")}` : tool;
}

type Fields = Record<string, unknown>;
type Gist = (input: Fields, short: (path: unknown) => string) => string;

const file: Gist = (input, short) => short(input.file_path ?? input.notebook_path);
const search: Gist = ({ pattern, path }, short) =>
  path === undefined ? text(pattern) : `${text(pattern)} in ${short(path)}`;

const gists: Record<string, Gist> = {
  Bash: (input) => text(input.command),
  Read: file,
  Edit: file,
  Write: file,
  NotebookEdit: file,
  Grep: search,
  Glob: search,
  WebFetch: (input) => text(input.url),
  WebSearch: (input) => text(input.query),
  Agent: (input) => text(input.description),
  Task: (input) => text(input.description),
  Skill: (input) => text(input.skill),
  AskUserQuestion: ({ questions }) => questionGist(Array.isArray(questions) ? questions : []),
  TodoWrite: ({ todos }) => todoGist(Array.isArray(todos) ? todos : []),
};

function questionGist(questions: { question?: unknown }[]): string {
  return questions.map((one) => text(one?.question)).join(" ");
}

function todoGist(todos: { content?: unknown; status?: unknown }[]): string {
  const done = todos.filter((todo) => todo?.status === "completed").length;
  const current = todos.find((todo) => todo?.status === "in_progress");
  const progress = `${done} of ${todos.length} done`;
  return current ? `${progress}: ${text(current.content)}` : progress;
}

function firstText(fields: Fields): string {
  const found = Object.values(fields).find((value) => typeof value === "string" && value !== "");
  if (found !== undefined) return text(found);
  return Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function oneLine(value: string): string {
  return value.trim().replace(/\s*\n\s*/g, " ⏎ ");
}
