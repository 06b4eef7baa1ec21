import type { IncomingMessage, ServerResponse } from "node:http";

const idleTimeoutMs = 500;
/** A sender that is this far over the limit is disconnected. */
const maxDiscardedBytes = 64 * 1024 * 1024;

/**
 * Answers a request whose body is still arriving. Closing the connection would reset it, and the
 * sender would lose the response, so the rest of the body is discarded: until its end, or until the
 * sender pauses or sends far too much.
 */
export function discardRemainingBody(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  let discardedBytes = 0;
  incoming.on("error", () => undefined);
  incoming.on("data", (chunk: Buffer) => {
    discardedBytes += chunk.length;
    if (discardedBytes > maxDiscardedBytes) socket.destroy();
    else timer?.refresh();
  });
  incoming.resume();
  let timer: NodeJS.Timeout | undefined;
  outgoing.once("finish", () => {
    if (incoming.complete) return;
    timer = setTimeout(() => socket.destroySoon(), idleTimeoutMs);
    const stop = () => clearTimeout(timer);
    incoming.once("end", stop);
    socket.once("close", stop);
  });
}
