import type { ServerResponse } from "node:http";
import type { Access } from "../access/access.ts";
import type { Visitor } from "../access/visitor.ts";

const checkIntervalMs = 5_000;

/**
 * Cuts off an answer that goes on, such as a stream of events, soon after its token was revoked or
 * its browser was signed out.
 */
export function endWithAccess(access: Access, visitor: Visitor, outgoing: ServerResponse): void {
  const timer = setInterval(async () => {
    const isAdmitted = await access.isStillAdmitted(visitor).catch(() => true);
    if (!isAdmitted) outgoing.destroy();
  }, checkIntervalMs).unref();
  outgoing.once("close", () => clearInterval(timer));
}
