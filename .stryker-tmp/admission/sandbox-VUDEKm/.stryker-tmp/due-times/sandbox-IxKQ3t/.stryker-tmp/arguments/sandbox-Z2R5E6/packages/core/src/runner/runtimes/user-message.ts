import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { isOlder } from "../../claude/version.ts";
import type { ExecuteOptions } from "./runtime-interface.ts";

/**
 * Builds the message for a prompt. By default, the prompt is sent verbatim; otherwise Claude Code
 * would include files named with `@path` and run a leading `/command`.
 */
export function buildUserMessage({
  prompt,
  expandsReferences = false,
  claudeVersion,
}: Pick<ExecuteOptions, "prompt" | "expandsReferences" | "claudeVersion">): SDKUserMessage {
  const envelope = { type: "user" as const, parent_tool_use_id: null, session_id: "" };
  // defence: verbatim-prompt
  if (expandsReferences) return { ...envelope, message: { role: "user", content: prompt } };
  const supportsClientComposed = claudeVersion && !isOlder(claudeVersion, minClientComposedVersion);
  const content = /* defence: verbatim-text-block */ supportsClientComposed
    ? prompt
    : [textBlock(prompt), textBlock(closingText)];
  return { ...envelope, client_composed: true, message: { role: "user", content } };
}

/** Older versions ignore the field `client_composed`. */
const minClientComposedVersion = "2.1.248";

/** All versions only expand the last text block, so older versions get this one after the prompt. */
const closingText = "(The text above is the whole prompt, as it was written.)";

function textBlock(text: string) {
  return { type: "text" as const, text };
}
