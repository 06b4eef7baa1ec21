import type { Connection } from "./connection.ts";
import type { Piece } from "./frames.ts";

export const mediaTypes = {
  sse: "text/event-stream",
  lines: "application/jsonl",
  bytes: "application/octet-stream",
} as const;

/** Asks for the next piece when the other side has taken the last: nothing piles up in between. */
export function streamResponse(
  pieces: AsyncGenerator<Piece>,
  mediaType: string,
  connection: Connection,
): Response {
  const leave = () => {
    connection.cut();
    // Nobody asks for the next piece any more: what the pieces hold open is closed here.
    void pieces.return(undefined).catch(() => undefined);
  };
  connection.signal.addEventListener("abort", leave, { once: true });
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const piece = await pieces.next().catch(() => undefined);
        // An end in good order would say that this was all.
        if (piece === undefined) connection.cut();
        if (piece === undefined || piece.done) controller.close();
        else controller.enqueue(bytesOf(piece.value));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
  const headers = { "content-type": mediaType, "cache-control": "no-store" };
  return new Response(body, { headers });
}

function bytesOf(piece: Piece): Uint8Array {
  return typeof piece === "string" ? Buffer.from(piece) : piece;
}
