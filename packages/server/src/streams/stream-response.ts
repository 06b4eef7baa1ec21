import type { Connection } from "./connection.ts";
import type { Chunk } from "./sse-events.ts";

export const mediaTypes = {
  sse: "text/event-stream",
  lines: "application/x-ndjson",
  bytes: "application/octet-stream",
} as const;

/** Pulls the next chunk only when the client has read the last one, so nothing is buffered. */
export function streamResponse(
  chunks: AsyncGenerator<Chunk>,
  mediaType: string,
  connection: Connection,
): Response {
  const closeStream = () => {
    connection.destroy();
    // The generator is not pulled any more, so close the resources it holds.
    void chunks.return(undefined).catch(() => undefined);
  };
  connection.signal.addEventListener("abort", closeStream, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = await chunks.next().catch(() => undefined);
        // On an error, abort the connection: a regular end would mean that the data is complete.
        if (chunk === undefined) connection.destroy();
        if (chunk === undefined || chunk.done) controller.close();
        else controller.enqueue(toBytes(chunk.value));
      },
      cancel: closeStream,
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": mediaType, "cache-control": "no-store" };
  return new Response(body, { headers });
}

function toBytes(chunk: Chunk): Uint8Array {
  return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
}
