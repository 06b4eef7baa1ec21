import { createHash } from "node:crypto";
import type { ModelRequest } from "../request/model-request.ts";
import type { ScriptReply } from "../script/script-schema.ts";
import { estimateTokens, type Usage } from "./token-usage.ts";

/** A reply of the model. Obedient replies also set the ids of their tool calls. */
export type Reply =
  | string
  | (Omit<Exclude<ScriptReply, string>, "tools"> & { tools?: ReplyCall[] });

interface ReplyCall {
  id?: string;
  name: string;
  input: Record<string, unknown>;
}

export type ReplyBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> };

export interface ApiMessage {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: ReplyBlock[];
  stop_reason: "end_turn" | "tool_use";
  stop_sequence: null;
  usage: Usage;
}

/** A reply as an API message. Equal requests get equal messages, including ids. */
export function toApiMessage(reply: Reply, request: ModelRequest): ApiMessage {
  const content = toContentBlocks(reply, request.bodyHash);
  const scriptedUsage = typeof reply === "string" ? undefined : reply.usage;
  return {
    id: `msg_${request.bodyHash.slice(0, 24)}`,
    type: "message",
    role: "assistant",
    model: request.body.model,
    content,
    stop_reason: content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: scriptedUsage?.input_tokens ?? estimatePromptTokens(request.body),
      output_tokens: scriptedUsage?.output_tokens ?? estimateTokens(content),
      cache_creation_input_tokens: scriptedUsage?.cache_creation_input_tokens ?? 0,
      cache_read_input_tokens: scriptedUsage?.cache_read_input_tokens ?? 0,
    },
  };
}

export function estimatePromptTokens(body: ModelRequest["body"]): number {
  return estimateTokens([body.system, body.messages, body.tools]);
}

function toContentBlocks(reply: Reply, bodyHash: string): ReplyBlock[] {
  if (typeof reply === "string") return [{ type: "text", text: reply }];
  const { thinking, text, tools = [] } = reply;
  const blocks: ReplyBlock[] = [];
  if (thinking !== undefined) blocks.push({ type: "thinking", thinking, signature: "rehearsal" });
  if (text !== undefined) blocks.push({ type: "text", text });
  const calls = tools.map(({ id, name, input }, index): ReplyBlock => {
    return { type: "tool_use", id: id ?? createToolUseId(bodyHash, index), name, input };
  });
  return [...blocks, ...calls];
}

export function createToolUseId(...parts: (string | number)[]): string {
  return `toolu_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24)}`;
}
