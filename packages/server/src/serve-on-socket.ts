import type { Hono } from "hono";

export interface FleetServer {
  /** Ends what is streamed, gives what is being answered a moment, and removes the socket. */
  stop(): Promise<void>;
}

/** For this user alone. A socket left behind by a dead process is replaced. */
export async function serveOnSocket(_app: Hono, socketPath: string): Promise<FleetServer> {
  throw new Error(`not there yet: ${socketPath}`);
}
