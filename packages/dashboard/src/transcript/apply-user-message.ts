import { parseToolResult } from "./parse-tool-result.ts";
import { type Line, type MessageHandler, parentToolId, type Transcript } from "./transcript.ts";
import {
  toFields,
  toFieldsList,
  toText,
  toTextOrNull,
  type UnknownFields,
} from "./unknown-fields.ts";

/** Applies input of the agent: tool results and user messages. */
export const applyUserMessage: MessageHandler = (transcript, message, line) => {
  const parent = parentToolId(message);
  const { content } = toFields(message.message);
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content }] : toFieldsList(content);
  blocks.forEach((block, at) => {
    if (block.tool_use_id !== undefined) applyToolResult(transcript, block, line, message);
    else addUserText(transcript, { parent, line, at, text: toText(block.text), message });
  });
  const thread = transcript.thread(parent);
  thread.lastActivityAt = line.at ?? thread.lastActivityAt;
};

export function applyToolResult(
  transcript: Transcript,
  block: UnknownFields,
  line: Line,
  message: UnknownFields,
): void {
  const tool = transcript.tools.get(toText(block.tool_use_id));
  if (!tool) return;
  tool.result = parseToolResult(tool, block, message);
  tool.isStreaming = false;
  tool.revision += 1;
  // Background tasks end later, with their task notification.
  if (!tool.task?.isBackground || tool.task.status !== "running") tool.endedAt = line.at;
}

interface UserText {
  parent: string | null;
  line: Line;
  at: number;
  text: string;
  message: UnknownFields;
}

function addUserText(transcript: Transcript, { parent, line, at, text, message }: UserText): void {
  const parentTool = parent === null ? undefined : transcript.tools.get(parent);
  // The prompt of a subagent is already shown with its tool call.
  if (text === "" || text === parentTool?.input.prompt) return;
  const entry = {
    ...transcript.baseFields(line, `h${line.start}.${at}`),
    kind: "user" as const,
    text,
  };
  transcript.addEntry(parent, { ...entry, uuid: toTextOrNull(message.uuid) });
}
