import type { IncomingHttpHeaders } from "node:http";
import { type RequestBody, toBlocks } from "./request-body.ts";

export type SpeakerKind = "main" | "subagent" | "side";

/**
 * Based on the requests of Claude Code 2.1.197 and 2.1.325. Subagents send their id in a header. Side
 * requests have these features: a session title has no tools and requests JSON with a schema, a quota
 * check requests a single token, and compaction ends with a fixed instruction. A conversation may have
 * no tools either, so that alone is not enough.
 */
export function detectSpeaker(headers: IncomingHttpHeaders, body: RequestBody): SpeakerKind {
  if (headers["x-claude-code-agent-id"] !== undefined) return "subagent";
  return isSideRequest(body) ? "side" : "main";
}

const compactionPrompt = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";

function isSideRequest(body: RequestBody): boolean {
  const hasNoTools = (body.tools ?? []).length === 0;
  if (hasNoTools && body.output_config?.format) return true;
  if (hasNoTools && body.max_tokens === 1) return true;
  const lastUserMessage = body.messages.findLast((message) => message.role === "user");
  return toBlocks(lastUserMessage?.content).at(-1)?.text?.startsWith(compactionPrompt) ?? false;
}
