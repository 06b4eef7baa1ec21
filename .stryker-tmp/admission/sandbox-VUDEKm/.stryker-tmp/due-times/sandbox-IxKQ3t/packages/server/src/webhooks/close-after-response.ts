import type { IncomingMessage, ServerResponse } from "node:http";

const drainTimeoutMs = 500;

/**
 * Closes a connection whose client may still be sending. Closing immediately would reset the
 * connection and lose the response, so incoming data is discarded for a short time first.
 */
export function closeAfterResponse(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { socket } = incoming;
  // Adds `connection: close` to the response, so that the client does not reuse the connection.
  outgoing.shouldKeepAlive = false;
  incoming.on("error", () => undefined);
  incoming.resume();
  outgoing.once("finish", () => {
    const closeSocket = () => socket.destroySoon();
    const timer = setTimeout(closeSocket, drainTimeoutMs);
    incoming.once("end", closeSocket);
    socket.once("close", () => clearTimeout(timer));
  });
}
