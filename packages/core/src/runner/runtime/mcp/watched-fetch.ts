import { ReadableStream } from "node:stream/web";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { longestMessage } from "./bridged-server.ts";

interface FetchWatch {
  /** An answer has come to its end, well or not. */
  ended(request: RequestInit | undefined, answer: { isResumable: boolean }): void;
}

/** Says when an answer is over, which the transports keep to themselves, and cuts endless ones. */
export function watchedFetch(watch: FetchWatch): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const isStream = headers.get("content-type")?.includes("text/event-stream") ?? false;
    const body = watched(response.body, isStream, init, watch);
    return new Response(ReadableStream.from(body), { status, statusText, headers });
  };
}

async function* watched(
  body: AsyncIterable<Uint8Array>,
  isStream: boolean,
  init: RequestInit | undefined,
  { ended }: FetchWatch,
): AsyncGenerator<Uint8Array> {
  let [size, isResumable] = [0, false];
  try {
    for await (const chunk of body) {
      const text = isStream ? Buffer.from(chunk).toString("latin1") : "";
      // A blank line ends an event; an event with an id can be asked for again.
      const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
      size = end === -1 ? size + chunk.length : chunk.length - end;
      isResumable ||= /^id:/m.test(text);
      if (size > longestMessage) throw new Error("its message is too long");
      yield chunk;
    }
  } finally {
    ended(init, { isResumable });
  }
}
