import { isAbsolute, relative } from "node:path";

/** The most informative input of a tool call on one line, with paths relative to `folder`. */
export function summarizeToolCall(
  tool: string,
  input: unknown,
  folder: string | undefined,
): string {
  if (typeof input !== "object" || input === null) return "";
  const fields: InputFields = { ...input };
  const summary = toolSummarizers[tool]?.(fields, (path) => shortenPath(asText(path), folder));
  return toOneLine(summary ?? firstText(fields));
}

/** `github · create_issue` for `mcp__github__create_issue`. */
export function displayToolName(tool: string): string {
  const [prefix, server, ...rest] = tool.split("__");
  return prefix === "mcp" && rest.length > 0 ? `${server} · ${rest.join("__")}` : tool;
}

type InputFields = Record<string, unknown>;
type ToolSummarizer = (input: InputFields, shorten: (path: unknown) => string) => string;

const summarizeFile: ToolSummarizer = (input, shorten) =>
  shorten(input.file_path ?? input.notebook_path);
const summarizeSearch: ToolSummarizer = ({ pattern, path }, shorten) =>
  path === undefined ? asText(pattern) : `${asText(pattern)} in ${shorten(path)}`;

const toolSummarizers: Record<string, ToolSummarizer> = {
  Bash: (input) => asText(input.command),
  Read: summarizeFile,
  Edit: summarizeFile,
  Write: summarizeFile,
  NotebookEdit: summarizeFile,
  Grep: summarizeSearch,
  Glob: summarizeSearch,
  WebFetch: (input) => asText(input.url),
  WebSearch: (input) => asText(input.query),
  Agent: (input) => asText(input.description),
  Task: (input) => asText(input.description),
  Skill: (input) => asText(input.skill),
  AskUserQuestion: ({ questions }) => summarizeQuestions(Array.isArray(questions) ? questions : []),
  TodoWrite: ({ todos }) => summarizeTodos(Array.isArray(todos) ? todos : []),
};

function summarizeQuestions(questions: { question?: unknown }[]): string {
  return questions.map((one) => asText(one?.question)).join(" ");
}

function summarizeTodos(todos: { content?: unknown; status?: unknown }[]): string {
  const done = todos.filter((todo) => todo?.status === "completed").length;
  const current = todos.find((todo) => todo?.status === "in_progress");
  const progress = `${done} of ${todos.length} done`;
  return current ? `${progress}: ${asText(current.content)}` : progress;
}

function firstText(fields: InputFields): string {
  const found = Object.values(fields).find((value) => typeof value === "string" && value !== "");
  if (found !== undefined) return asText(found);
  return Object.keys(fields).length === 0 ? "" : JSON.stringify(fields);
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function toOneLine(value: string): string {
  return value.trim().replace(/\s*\n\s*/g, " ⏎ ");
}

/** A path relative to the folder, if it is inside it. */
export function shortenPath(path: string, folder: string | undefined): string {
  if (folder === undefined || !isAbsolute(path)) return path;
  const relativePath = relative(folder, path);
  return relativePath.startsWith("..") ? path : relativePath || ".";
}
