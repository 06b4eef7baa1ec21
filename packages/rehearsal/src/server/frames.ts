import type { Message, ReplyBlock } from "../reply/message.ts";

/** The server-sent events that carry a message, each as the text that goes over the wire. */
export function toFrames(message: Message): string[] {
  const { content, stop_reason, stop_sequence, usage } = message;
  const start = {
    ...message,
    content: [],
    stop_reason: null,
    usage: { ...usage, output_tokens: 1 },
  };
  return [
    frame("message_start", { message: start }),
    frame("ping", {}),
    ...content.flatMap(blockFrames),
    frame("message_delta", { delta: { stop_reason, stop_sequence }, usage }),
    frame("message_stop", {}),
  ];
}

export function frame(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
}

function blockFrames(block: ReplyBlock, index: number): string[] {
  const { empty, deltas } = parts(block);
  return [
    frame("content_block_start", { index, content_block: empty }),
    ...deltas.map((delta) => frame("content_block_delta", { index, delta })),
    frame("content_block_stop", { index }),
  ];
}

function parts(block: ReplyBlock): { empty: object; deltas: object[] } {
  if (block.type === "text") {
    const deltas = pieces(block.text).map((text) => ({ type: "text_delta", text }));
    return { empty: { ...block, text: "" }, deltas };
  }
  if (block.type === "thinking") {
    const deltas = pieces(block.thinking).map((thinking) => ({ type: "thinking_delta", thinking }));
    const signature = { type: "signature_delta", signature: block.signature };
    return { empty: { ...block, thinking: "", signature: "" }, deltas: [...deltas, signature] };
  }
  const deltas = pieces(JSON.stringify(block.input)).map((json) => {
    return { type: "input_json_delta", partial_json: json };
  });
  return { empty: { ...block, input: {} }, deltas };
}

/** Whole code points, so that no piece ends in half a character. */
function pieces(text: string, length = 40): string[] {
  return text.match(new RegExp(`.{1,${length}}`, "gsu")) ?? [];
}
