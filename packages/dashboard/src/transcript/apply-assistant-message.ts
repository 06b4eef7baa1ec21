import { applyToolResult } from "./apply-user-message.ts";
import type { ModelTextEntry, ToolEntry, Turn, Usage } from "./entry.ts";
import {
  type AgentThread,
  type Line,
  type MessageHandler,
  parentToolId,
  type Transcript,
} from "./transcript.ts";
import {
  toFields,
  toFieldsList,
  toNumberOrNull,
  toText,
  toTextOrNull,
  type UnknownFields,
} from "./unknown-fields.ts";

/** Applies a complete assistant message. Its blocks may already exist from stream events. */
export const applyAssistantMessage: MessageHandler = (transcript, message, line) => {
  const parent = parentToolId(message);
  const thread = transcript.thread(parent);
  const apiMessage = toFields(message.message);
  const turn = findOrCreateTurn(transcript, thread, parent, apiMessage, line);
  const usage = parseUsage(apiMessage.usage);
  if (turn.usage === null && usage !== null) turn.usage = { ...usage, output: null };
  toFieldsList(apiMessage.content).forEach((block, at) => {
    const entry = applyBlock(transcript, { thread, parent, turn, line, block, at });
    if (entry) entry.uuid = toTextOrNull(message.uuid);
  });
  thread.lastActivityAt = line.at ?? thread.lastActivityAt;
  turn.endedAt = line.at ?? turn.endedAt;
  turn.revision += 1;
};

/** The turn of this API message; a new message id starts a new turn. */
export function findOrCreateTurn(
  transcript: Transcript,
  thread: AgentThread,
  parent: string | null,
  { id, model }: UnknownFields,
  line: Line,
): Turn {
  const messageId = toTextOrNull(id);
  if (thread.turn && thread.messageId === messageId) return thread.turn;
  closeStreamingEntries(thread);
  const number = (thread.turn?.number ?? 0) + 1;
  const startedAt = thread.lastActivityAt ?? line.at;
  thread.turn = {
    key: `t${line.start}`,
    revision: 0,
    number,
    parent,
    model: toTextOrNull(model),
    startedAt,
    endedAt: line.at,
    usage: null,
    entryKey: null,
  };
  thread.messageId = messageId;
  transcript.turns.push(thread.turn);
  return thread.turn;
}

/** Closes entries that were still streaming when the stream ended early. They keep their partial text. */
function closeStreamingEntries(thread: AgentThread): void {
  for (const entry of thread.streamingBlocks.values()) {
    entry.isStreaming = false;
    entry.revision += 1;
  }
  thread.streamingBlocks.clear();
}

interface BlockContext {
  thread: AgentThread;
  parent: string | null;
  turn: Turn;
  line: Line;
  block: UnknownFields;
  at: number;
}

function applyBlock(
  transcript: Transcript,
  context: BlockContext,
): ModelTextEntry | ToolEntry | undefined {
  const { block } = context;
  const kind = toText(block.type);
  if (kind === "text") return applyText(transcript, context, "text", toText(block.text));
  if (kind === "thinking")
    return applyText(transcript, context, "thinking", toText(block.thinking));
  if (kind.endsWith("tool_use")) return applyToolCall(transcript, context);
  if (block.tool_use_id !== undefined) applyToolResult(transcript, block, context.line, {});
  return undefined;
}

function applyText(
  transcript: Transcript,
  { thread, parent, turn, line, at }: BlockContext,
  kind: ModelTextEntry["kind"],
  text: string,
): ModelTextEntry | undefined {
  const streamed = closeStreamingEntry(thread, kind);
  if (!streamed && text === "") return undefined;
  const key = `s${line.start}.${at}`;
  const entry = streamed ?? addTextEntry(transcript, { parent, turn, line, kind, key });
  if (entry.kind === "tool") return undefined;
  entry.text = text;
  entry.at = line.at ?? entry.at;
  return entry;
}

export function addTextEntry(
  transcript: Transcript,
  { parent, turn, line, kind, key }: EntryPlacement & { kind: ModelTextEntry["kind"] },
): ModelTextEntry {
  turn.entryKey ??= key;
  const fields = { kind, text: "", isStreaming: false, turn };
  return transcript.addEntry(parent, { ...transcript.baseFields(line, key), ...fields });
}

export interface EntryPlacement {
  parent: string | null;
  turn: Turn;
  line: Line;
  key: string;
}

function applyToolCall(
  transcript: Transcript,
  { thread, parent, turn, line, block }: BlockContext,
): ToolEntry | undefined {
  const id = toText(block.id);
  closeStreamingEntry(thread, "tool");
  const existing = transcript.tools.get(id);
  const entry = existing ?? addToolEntry(transcript, { parent, turn, line, key: id }, block);
  entry.input = toFields(block.input);
  entry.at = line.at ?? entry.at;
  entry.revision += 1;
  return entry;
}

export function addToolEntry(
  transcript: Transcript,
  { parent, turn, line, key }: EntryPlacement,
  block: UnknownFields,
): ToolEntry {
  turn.entryKey ??= key;
  const entry: ToolEntry = {
    ...transcript.baseFields(line, key),
    kind: "tool",
    id: key,
    tool: toText(block.name),
    input: {},
    isStreaming: false,
    endedAt: null,
    result: null,
    task: null,
    deniedReason: null,
    children: [],
    descendants: 0,
    turn,
  };
  transcript.tools.set(key, entry);
  return transcript.addEntry(parent, entry);
}

/** Closes the oldest streaming entry of a kind: blocks complete in the order they started. */
function closeStreamingEntry(
  thread: AgentThread,
  kind: "text" | "thinking" | "tool",
): ModelTextEntry | ToolEntry | undefined {
  for (const [index, entry] of thread.streamingBlocks) {
    if (entry.kind !== kind) continue;
    thread.streamingBlocks.delete(index);
    entry.isStreaming = false;
    entry.revision += 1;
    return entry;
  }
  return undefined;
}

export function parseUsage(value: unknown): Usage | null {
  const usage = toFields(value);
  const input = toNumberOrNull(usage.input_tokens);
  if (input === null) return null;
  return {
    input,
    output: toNumberOrNull(usage.output_tokens),
    cacheRead: toNumberOrNull(usage.cache_read_input_tokens) ?? 0,
    cacheWrite: toNumberOrNull(usage.cache_creation_input_tokens) ?? 0,
  };
}
