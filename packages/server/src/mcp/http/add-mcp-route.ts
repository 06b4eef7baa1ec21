import { type FleetManager, UserError } from "@herdctl/core";
import { isBug, noSuchRoute, toFailure } from "../../failure.ts";
import { closeSoon } from "../../hooks/close-soon.ts";
import type { HooksApp, HooksOptions } from "../../hooks/create-hooks-app.ts";
import { readBody, SenderGone } from "../../hooks/read-body.ts";
import { Room } from "../../hooks/room.ts";
import { checkCaller } from "./check-caller.ts";

const mebibyte = 1024 * 1024;
const bodyLimit = mebibyte;
const inFlight = 16 * mebibyte;

/** The fleet as tools at `/mcp`, for as long as the configuration says so. */
export function addMcpRoute(app: HooksApp, fleet: FleetManager, { onBug }: HooksOptions): void {
  const room = new Room(inFlight);
  app.all("/mcp", async (c) => {
    const { incoming, outgoing } = c.env;
    try {
      if (!fleet.mcp.address) throw noSuchRoute(c.req.method, c.req.path);
      checkCaller(incoming.headers, fleet.mcp);
      if (c.req.method !== "POST") return new Response(null, { status: 405, headers: onlyPost });
      const body = parse(await readBody(incoming, bodyLimit, room));
      // Most fleets are never asked this way, and the library takes its time to load.
      const { answerMcp } = await import("./answer-mcp.ts");
      return await answerMcp(c.req.raw, body, {
        road: { read: (question) => question(fleet), act: (question) => question(fleet) },
        allow: fleet.mcp.allow,
        by: "somebody with the token",
        onBug,
      });
    } catch (error) {
      if (!incoming.complete) closeSoon(incoming, outgoing);
      if (error instanceof SenderGone) return new Response(null, { status: 408 });
      if (isBug(error)) throw error;
      return refused(error);
    }
  });
}

/** Nothing is said unasked, so there is no stream to open with GET. */
const onlyPost = { allow: "POST" };

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not JSON", { cause });
  }
}

function refused(error: unknown): Response {
  const { status, body } = toFailure(error);
  const headers = status === 401 ? { "www-authenticate": "Bearer" } : undefined;
  return Response.json(body, { status, headers });
}
