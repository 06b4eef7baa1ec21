import { applyAssistantMessage } from "./apply-assistant-message.ts";
import { applyResult } from "./apply-result.ts";
import { applyStreamEvent } from "./apply-stream-event.ts";
import { applyFleetToolNote, applyRateLimit, applySystemMessage } from "./apply-system-message.ts";
import { applyUserMessage } from "./apply-user-message.ts";
import type { OutputLine } from "./line-splitter.ts";
import type { MessageHandler, Transcript } from "./transcript.ts";
import { readTimestamp, toText } from "./unknown-fields.ts";

/** Applies the next line of a job's output to its transcript. */
export function applyOutputLine(transcript: Transcript, { message, offset }: OutputLine): void {
  // After a reconnect the server may repeat lines that were already applied.
  if (offset <= transcript.offset) return;
  const line = { start: transcript.offset, at: readTimestamp(message) };
  transcript.offsets.push(line.start);
  transcript.offset = offset;
  transcript.revision += 1;
  handlersByType[toText(message.type)]?.(transcript, message, line);
}

const handlersByType: Record<string, MessageHandler> = {
  system: applySystemMessage,
  assistant: applyAssistantMessage,
  user: applyUserMessage,
  stream_event: applyStreamEvent,
  result: applyResult,
  rate_limit_event: applyRateLimit,
  herd: applyFleetToolNote,
};
