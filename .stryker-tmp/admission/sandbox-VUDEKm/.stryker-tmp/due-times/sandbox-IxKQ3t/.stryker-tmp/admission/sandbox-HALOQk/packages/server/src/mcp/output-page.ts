import type { JobOutput } from "@herdctl/protocol";
import { formatMessage } from "./format-message.ts";

export interface OutputPage {
  text: string;
  /** The offset of the next page; null if there is no more output yet. */
  next: number | null;
}

/** Reads as many messages as fit. A first message that is too long is returned whole; the fence cuts it. */
export async function readOutputPage(
  messages: AsyncIterable<JobOutput>,
  from: number,
  maxChars: number,
): Promise<OutputPage> {
  const parts: string[] = [];
  let [usedChars, nextOffset] = [0, from];
  for await (const { message, offset } of messages) {
    const part = formatMessage(message);
    if (parts.length > 0 && usedChars + part.length > maxChars)
      return { text: parts.join("\n"), next: nextOffset };
    if (part !== "") parts.push(part);
    usedChars += part.length;
    nextOffset = offset;
  }
  return { text: parts.join("\n"), next: null };
}
