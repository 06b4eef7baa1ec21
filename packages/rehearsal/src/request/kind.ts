import type { IncomingHttpHeaders } from "node:http";
import { blocksOf, type RequestBody } from "./body.ts";

export type SpeakerKind = "main" | "subagent" | "side";

/**
 * Learned from the requests of 2.1.197 and 2.1.325. Subagents carry an id of their own in a header.
 * The binary's errands look like this: a session title comes without tools and wants JSON of a
 * given schema, a quota probe wants a single token, and compaction ends with a fixed instruction.
 * A conversation may be without tools too, so that alone means nothing.
 */
export function speakerOf(headers: IncomingHttpHeaders, body: RequestBody): SpeakerKind {
  if (headers["x-claude-code-agent-id"] !== undefined) return "subagent";
  return isErrand(body) ? "side" : "main";
}

const compaction = "CRITICAL: Respond with TEXT ONLY. Do NOT call any tools.";

function isErrand(body: RequestBody): boolean {
  const toolless = (body.tools ?? []).length === 0;
  if (toolless && body.output_config?.format) return true;
  if (toolless && body.max_tokens === 1) return true;
  const asked = body.messages.findLast((message) => message.role === "user");
  return blocksOf(asked?.content).at(-1)?.text?.startsWith(compaction) ?? false;
}
