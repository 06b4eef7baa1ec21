import type { JobOutput } from "@herdctl/core";
import { tellMessage } from "./tell-message.ts";

export interface OutputPage {
  text: string;
  /** Where the next page begins; null when nothing more is there now. */
  next: number | null;
}

/** As many messages as fit; a first one that is too long on its own is cut by the fence around it. */
export async function outputPage(
  messages: AsyncIterable<JobOutput>,
  from: number,
  room: number,
): Promise<OutputPage> {
  const parts: string[] = [];
  let [used, at] = [0, from];
  for await (const { message, offset } of messages) {
    const part = tellMessage(message);
    if (parts.length > 0 && used + part.length > room) return { text: parts.join("\n"), next: at };
    if (part !== "") parts.push(part);
    used += part.length;
    at = offset;
  }
  return { text: parts.join("\n"), next: null };
}
