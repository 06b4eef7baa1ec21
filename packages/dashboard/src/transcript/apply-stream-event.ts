import {
  addTextEntry,
  addToolEntry,
  findOrCreateTurn,
  parseUsage,
} from "./apply-assistant-message.ts";
import {
  type AgentThread,
  type Line,
  type MessageHandler,
  parentToolId,
  type Transcript,
} from "./transcript.ts";
import { toFields, toNumberOrNull, toText, type UnknownFields } from "./unknown-fields.ts";

/** Applies a partial model output. The complete message follows separately. */
export const applyStreamEvent: MessageHandler = (transcript, message, line) => {
  const parent = parentToolId(message);
  const event = toFields(message.event);
  handlersByEventType[toText(event.type)]?.(transcript, {
    parent,
    thread: transcript.thread(parent),
    event,
    line,
  });
};

interface StreamEvent {
  parent: string | null;
  thread: AgentThread;
  event: UnknownFields;
  line: Line;
}

const handlersByEventType: Record<
  string,
  (transcript: Transcript, streamEvent: StreamEvent) => void
> = {
  message_start: (transcript, { parent, thread, event, line }) => {
    findOrCreateTurn(transcript, thread, parent, toFields(event.message), line);
  },
  content_block_start: (transcript, { parent, thread, event, line }) => {
    const block = toFields(event.content_block);
    const index = toNumberOrNull(event.index) ?? 0;
    const { turn } = thread;
    if (!turn) return;
    const placement = { parent, turn, line, key: `p${line.start}` };
    const entry = startBlock(transcript, placement, block);
    if (!entry) return;
    entry.isStreaming = true;
    thread.streamingBlocks.set(index, entry);
  },
  content_block_delta: (_transcript, { thread, event }) => {
    const entry = thread.streamingBlocks.get(toNumberOrNull(event.index) ?? 0);
    const delta = toFields(event.delta);
    const addedText = toText(delta.text ?? delta.thinking);
    if (!entry || entry.kind === "tool" || addedText === "") return;
    entry.text += addedText;
    entry.revision += 1;
  },
  message_delta: (_transcript, { thread, event }) => {
    const usage = parseUsage(event.usage);
    if (!thread.turn || !usage) return;
    thread.turn.usage = usage;
    thread.turn.revision += 1;
  },
};

function startBlock(
  transcript: Transcript,
  placement: Parameters<typeof addToolEntry>[1],
  block: UnknownFields,
) {
  const kind = toText(block.type);
  if (kind === "text" || kind === "thinking")
    return addTextEntry(transcript, { ...placement, kind });
  if (!kind.endsWith("tool_use")) return undefined;
  const id = toText(block.id);
  return transcript.tools.get(id) ?? addToolEntry(transcript, { ...placement, key: id }, block);
}
