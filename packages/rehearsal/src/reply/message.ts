import { createHash } from "node:crypto";
import type { ModelRequest } from "../request/model-request.ts";
import type { ScriptReply } from "../script/schema.ts";
import { estimateTokens, type Usage } from "./usage.ts";

/** What the model says; a model that decides for itself also knows the ids of its calls. */
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

export interface Message {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: ReplyBlock[];
  stop_reason: "end_turn" | "tool_use";
  stop_sequence: null;
  usage: Usage;
}

/** A reply as the API sends it. Equal requests get equal messages, ids included. */
export function toMessage(reply: Reply, request: ModelRequest): Message {
  const content = contentOf(reply, request.bodyHash);
  const given = typeof reply === "string" ? undefined : reply.usage;
  return {
    id: `msg_${request.bodyHash.slice(0, 24)}`,
    type: "message",
    role: "assistant",
    model: request.body.model,
    content,
    stop_reason: content.some((block) => block.type === "tool_use") ? "tool_use" : "end_turn",
    stop_sequence: null,
    usage: {
      input_tokens: given?.input_tokens ?? promptTokens(request.body),
      output_tokens: given?.output_tokens ?? estimateTokens(content),
      cache_creation_input_tokens: given?.cache_creation_input_tokens ?? 0,
      cache_read_input_tokens: given?.cache_read_input_tokens ?? 0,
    },
  };
}

export function promptTokens(body: ModelRequest["body"]): number {
  return estimateTokens([body.system, body.messages, body.tools]);
}

function contentOf(reply: Reply, bodyHash: string): ReplyBlock[] {
  if (typeof reply === "string") return [{ type: "text", text: reply }];
  const { thinking, text, tools = [] } = reply;
  const blocks: ReplyBlock[] = [];
  if (thinking !== undefined) blocks.push({ type: "thinking", thinking, signature: "rehearsal" });
  if (text !== undefined) blocks.push({ type: "text", text });
  const calls = tools.map(({ id, name, input }, index): ReplyBlock => {
    return { type: "tool_use", id: id ?? toolUseId(bodyHash, index), name, input };
  });
  return [...blocks, ...calls];
}

export function toolUseId(...parts: (string | number)[]): string {
  return `toolu_${createHash("sha256").update(JSON.stringify(parts)).digest("hex").slice(0, 24)}`;
}
