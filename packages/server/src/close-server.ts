import type { Server } from "node:http";
import { setImmediate } from "node:timers/promises";

const moment = 1_000;

/** Ends what is streamed, gives what is being answered a moment, and cuts off the rest. */
export async function closeServer(server: Server, stopping: AbortController): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // What happened until now is still told to those who look on.
  await setImmediate();
  stopping.abort();
  // A connection that has its answer would be kept open for the next question.
  const idle = setInterval(() => server.closeIdleConnections(), 10);
  const late = setTimeout(() => server.closeAllConnections(), moment);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}
