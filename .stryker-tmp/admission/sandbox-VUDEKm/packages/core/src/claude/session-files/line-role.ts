import type { SessionLine } from "./session-line.ts";

/** The role of a line in the conversation, independent of its type. */
export type LineRole =
  | "assistant"
  | "prompt"
  | "tool_result"
  | "interruption"
  | "command_output"
  | "compact_boundary"
  | "compact_summary"
  | "cost"
  | "max_turns"
  | "aside"
  | "bookkeeping"
  | "unknown";

/** The model name of messages that Claude Code writes itself. */
export const syntheticModel = "<synthetic>";

export function roleOf(line: SessionLine): LineRole {
  const decide = roleByType[line.type];
  if (decide === undefined) return bookkeepingTypes.has(line.type) ? "bookkeeping" : "unknown";
  return decide(line);
}

/** Types in real files or in the binaries that do not contribute to a message. */
const bookkeepingTypes: ReadonlySet<string> = new Set([
  "agent-color",
  "agent-name",
  "agent-setting",
  "ai-title",
  "api-request",
  "api-request-blob",
  "api-request-shape",
  "atis-latch",
  "bridge-session",
  "content-replacement",
  "custom-title",
  "file-history-snapshot",
  "frame-link",
  "isolation-latch",
  "last-prompt",
  "mode",
  "permission-mode",
  "pr-link",
  "progress",
  "queue-operation",
  "relocated",
  "repl-mode",
  "summary",
  "tag",
  "tools-used",
  "worktree-state",
]);

const roleByType: Partial<Record<string, (line: SessionLine) => LineRole>> = {
  assistant: roleOfAssistant,
  user: roleOfUser,
  system: (line) => systemRoles[line.subtype ?? ""] ?? "aside",
  attachment: (line) => (line.attachment?.type === "max_turns_reached" ? "max_turns" : "aside"),
  "cost-state": () => "cost",
};

const systemRoles: Partial<Record<string, LineRole>> = {
  compact_boundary: "compact_boundary",
  local_command: "command_output",
};

/** When it resumes, 2.1.197 writes a synthetic answer such as "No response requested.". */
function roleOfAssistant(line: SessionLine): LineRole {
  const isSynthetic = line.message?.model === syntheticModel && line.isApiErrorMessage !== true;
  return line.message === undefined || isSynthetic ? "aside" : "assistant";
}

function roleOfUser(line: SessionLine): LineRole {
  const content = line.message?.content;
  if (content === undefined) return "aside";
  if (typeof content !== "string" && content.some((block) => block.type === "tool_result")) {
    return "tool_result";
  }
  if (line.isCompactSummary) return "compact_summary";
  if (line.isMeta) return "aside";
  const text = typeof content === "string" ? content : String(content[0]?.text ?? "");
  if (text.startsWith("[Request interrupted by user")) return "interruption";
  if (/^<local-command-std(out|err)>/.test(text)) return "command_output";
  return "prompt";
}
