import type { IncomingMessage, ServerResponse } from "node:http";

const patience = 500;

/**
 * Ends a connection whose sender may still be at it. To close at once would reset it, and the
 * sender would not see the answer; so a little of what comes is thrown away first.
 */
export function closeSoon(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  // Said in the answer, so that nothing more is sent on it.
  outgoing.shouldKeepAlive = false;
  incoming.on("error", () => undefined);
  incoming.resume();
  outgoing.once("finish", () => {
    const end = () => socket.destroySoon();
    const late = setTimeout(end, patience);
    incoming.once("end", end);
    socket.once("close", () => clearTimeout(late));
  });
}
