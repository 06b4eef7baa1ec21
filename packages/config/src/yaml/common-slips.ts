import type { Tree } from "./tree.ts";

interface Remedy {
  message: string;
  hint: string;
}

/** The two mistakes behind most syntax errors, recognized by the line on which parsing failed. */
export function explainSyntaxSlip(line: string): Remedy | undefined {
  const [, key, value = ""] = /^\s*(?:- )?\s*([\w-]+):\s+(.*?)\s*$/.exec(line) ?? [];
  if (key === undefined) return undefined;
  const quoted = JSON.stringify(value.replace(/[,}\s]+$/, ""));
  if (/^\*/.test(value))
    return {
      message: "a text that begins with `*` needs quotes",
      hint: `Write \`${key}: ${quoted}\`.`,
    };
  if (/^[^"'[{|>&#].*:\s/.test(value))
    return {
      message: "a text that contains a colon needs quotes",
      hint: `Write \`${key}: ${quoted}\`.`,
    };
  return undefined;
}

/** What to write for keys of Claude Code, which are spelled differently here. */
const claudeCodeKeys: Record<string, string> = {
  allowedTools: "allowed_tools",
  additionalDirectories: "additional_directories",
  appendSystemPrompt: "system_prompt",
  cwd: "working_directory",
  disallowedTools: "denied_tools",
  disallowed_tools: "denied_tools",
  mcpServers: "mcp_servers",
  permissionMode: "permission_mode",
  maxTurns: "max_turns",
  settingSources: "setting_sources",
  systemPrompt: "system_prompt",
};

/** The hint for a key that other programs use, if this block knows its counterpart. */
export function foreignKeyHint(key: string, known: readonly string[]): string | undefined {
  const own = claudeCodeKeys[key];
  return own !== undefined && known.includes(own) ? `Here it is called \`${own}\`.` : undefined;
}

/** Hints for short forms that do not exist, by the path's last key and the value as written. */
export function shapeHint(
  path: readonly PropertyKey[],
  value: Tree | undefined,
): string | undefined {
  const key = String(path.at(-1));
  const text = value?.kind === "scalar" ? String(value.value) : undefined;
  if (key === "version" && value === undefined) return "Add `version: 1`.";
  if (key === "docker" && typeof scalarOf(value) === "boolean")
    return `Write \`docker: { enabled: ${text} }\`.`;
  if (key === "session" && text !== undefined) return `Write \`session: { mode: ${text} }\`.`;
  if (key === "schedules" && value?.kind === "list")
    return 'Write each schedule under its name, such as `schedules: { nightly: { type: cron, cron: "0 3 * * *" } }`.';
  if (/^(allowed|denied)_tools$/.test(key) && text !== undefined)
    return `Write a list: \`${key}: [${text}]\`.`;
  if (durationKeys.has(key) && typeof scalarOf(value) === "number")
    return `Write a number and a unit, such as \`${text}s\` or \`5m\`.`;
  const isClaudeTool = path.at(-2) === "tools" && text !== undefined && /^([A-Z]|mcp__)/.test(text);
  if (isClaudeTool)
    return "Claude Code's tools go under `allowed_tools`; `tools` lists herdctl's own tools.";
  return undefined;
}

const durationKeys = new Set([
  ...["every", "jitter", "catch_up_window", "timeout", "backoff", "expires", "stale_after"],
  ...["start", "stall", "total", "sessions", "min_delay", "session_expires"],
]);

function scalarOf(value: Tree | undefined): unknown {
  return value?.kind === "scalar" ? value.value : undefined;
}
