import type { SessionLine } from "./line.ts";

/** What a line is in the conversation, whatever its type is called. */
export type Role =
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

/** The name under which Claude Code speaks for itself. */
export const syntheticModel = "<synthetic>";

export function roleOf(line: SessionLine): Role {
  const decide = byType[line.type];
  if (decide === undefined) return bookkeepingTypes.has(line.type) ? "bookkeeping" : "unknown";
  return decide(line);
}

/** Types seen in real files, or named in the binaries, that carry nothing for a message. */
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

const byType: Partial<Record<string, (line: SessionLine) => Role>> = {
  assistant: roleOfAssistant,
  user: roleOfUser,
  system: (line) => systemRoles[line.subtype ?? ""] ?? "aside",
  attachment: (line) => (line.attachment?.type === "max_turns_reached" ? "max_turns" : "aside"),
  "cost-state": () => "cost",
};

const systemRoles: Partial<Record<string, Role>> = {
  compact_boundary: "compact_boundary",
  local_command: "command_output",
};

/** 197 writes an answer of its own, such as "No response requested.", when it resumes. */
function roleOfAssistant(line: SessionLine): Role {
  const ownWords = line.message?.model === syntheticModel && line.isApiErrorMessage !== true;
  return line.message === undefined || ownWords ? "aside" : "assistant";
}

function roleOfUser(line: SessionLine): Role {
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
