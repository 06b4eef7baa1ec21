import type { Server } from "node:http";
import { setImmediate } from "node:timers/promises";

const gracePeriodMs = 1_000;

/** Ends all streams, waits briefly for open responses, and closes the remaining connections. */
export async function closeServer(server: Server, stopController: AbortController): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // Let pending events reach the streams first.
  await setImmediate();
  stopController.abort();
  // Keep-alive connections would stay open after their response.
  const idleTimer = setInterval(() => server.closeIdleConnections(), 10);
  const forceTimer = setTimeout(() => server.closeAllConnections(), gracePeriodMs);
  await closed;
  clearInterval(idleTimer);
  clearTimeout(forceTimer);
}
