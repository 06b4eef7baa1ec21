import type { ApiMessage, ReplyBlock } from "../reply/api-message.ts";

export type StreamEvent = { type: string } & Record<string, unknown>;

/** The events of a streamed message. */
export function toStreamEvents(message: ApiMessage): StreamEvent[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return [
    streamEvent("message_start", { message: start }),
    streamEvent("ping", {}),
    ...content.flatMap(blockEvents),
    streamEvent("message_delta", { delta: { stop_reason, stop_sequence }, usage }),
    streamEvent("message_stop", {}),
  ];
}

export function encodeSse(event: StreamEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

function streamEvent(type: string, data: object): StreamEvent {
  return { type, ...data };
}

function blockEvents(block: ReplyBlock, index: number): StreamEvent[] {
  const { emptyBlock, deltas } = splitBlock(block);
  return [
    streamEvent("content_block_start", { index, content_block: emptyBlock }),
    ...deltas.map((delta) => streamEvent("content_block_delta", { index, delta })),
    streamEvent("content_block_stop", { index }),
  ];
}

function splitBlock(block: ReplyBlock): { emptyBlock: object; deltas: object[] } {
  if (block.type === "text") {
    const deltas = splitText(block.text).map((text) => ({ type: "text_delta", text }));
    return { emptyBlock: { ...block, text: "" }, deltas };
  }
  if (block.type === "thinking") {
    const deltas = splitText(block.thinking).map((thinking) => ({
      type: "thinking_delta",
      thinking,
    }));
    const signature = { type: "signature_delta", signature: block.signature };
    return {
      emptyBlock: { ...block, thinking: "", signature: "" },
      deltas: [...deltas, signature],
    };
  }
  const deltas = splitText(JSON.stringify(block.input)).map((json) => {
    return { type: "input_json_delta", partial_json: json };
  });
  return { emptyBlock: { ...block, input: {} }, deltas };
}

/** Splits by code points, so that no chunk ends inside a character. */
function splitText(text: string, length = 40): string[] {
  return text.match(new RegExp(`.{1,${length}}`, "gsu")) ?? [];
}
