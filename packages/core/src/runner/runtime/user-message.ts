import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { isOlder } from "../claude-version.ts";
import type { ExecuteOptions } from "./interface.ts";

/**
 * One prompt as Claude Code is given it. By default it is sent verbatim: Claude Code would otherwise
 * read the file that `@path` names into the request, and run what follows a leading `/`.
 */
export function userMessage({
  prompt,
  expand = false,
  claudeVersion,
}: Pick<ExecuteOptions, "prompt" | "expand" | "claudeVersion">): SDKUserMessage {
  const envelope = { type: "user" as const, parent_tool_use_id: null, session_id: "" };
  if (expand) return { ...envelope, message: { role: "user", content: prompt } };
  const knowsTheField = claudeVersion && !isOlder(claudeVersion, firstWithClientComposed);
  const content = knowsTheField ? prompt : [textBlock(prompt), textBlock(closingText)];
  return { ...envelope, client_composed: true, message: { role: "user", content } };
}

/** Older versions ignore the field `client_composed`. */
const firstWithClientComposed = "2.1.248";

/** Every version expands the last text block only, so versions that ignore the field get this one. */
const closingText = "(The text above is the whole prompt, as it was written.)";

function textBlock(text: string) {
  return { type: "text" as const, text };
}
