import type { ServerResponse } from "node:http";
import type { Authenticator } from "../auth/authenticator.ts";
import type { Caller } from "../auth/caller.ts";

const checkIntervalMs = 5_000;

/**
 * Closes a streaming response, such as an event stream, shortly after its token was revoked or its
 * browser was signed out.
 */
export function closeWhenRevoked(
  authenticator: Authenticator,
  caller: Caller,
  outgoing: ServerResponse,
): void {
  const timer = setInterval(async () => {
    const isAuthorized = await authenticator.isStillAuthorized(caller).catch(() => true);
    // defence: stream-ends-with-access
    if (!isAuthorized) outgoing.destroy();
  }, checkIntervalMs).unref();
  outgoing.once("close", () => clearInterval(timer));
}
