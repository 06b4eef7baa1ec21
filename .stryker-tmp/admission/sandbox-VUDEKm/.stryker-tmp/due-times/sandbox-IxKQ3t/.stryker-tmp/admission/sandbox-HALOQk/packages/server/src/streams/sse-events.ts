import { raceTimeout } from "@herdctl/protocol";
export interface SseEvent {
  id: string | number;
  event: string;
  json: string;
}

/** A piece of a response. Bytes can be shared by subscribers; text is encoded for each. */
export type Chunk = string | Uint8Array;

/** Encoded JSON contains no line breaks, so one `data` line is enough. */
export function encodeSseEvent({ id, event, json }: SseEvent): Uint8Array {
  return Buffer.from(`id: ${id}\nevent: ${event}\ndata: ${json}\n\n`);
}

const heartbeatComment = ":\n\n";

/** Adds a comment as heartbeat immediately, and whenever the source has been silent for the interval. */
export async function* withHeartbeat(
  source: AsyncIterable<Chunk>,
  intervalMs = 15_000,
): AsyncGenerator<Chunk> {
  const iterator = source[Symbol.asyncIterator]();
  yield heartbeatComment;
  try {
    let next = iterator.next();
    for (;;) {
      const result = await raceTimeout(next, intervalMs, () => undefined, { unref: true });
      if (result === undefined) {
        yield heartbeatComment;
        continue;
      }
      if (result.done) return;
      yield result.value;
      next = iterator.next();
    }
  } finally {
    await iterator.return?.();
  }
}
