import type { IncomingMessage } from "node:http";
import { type FleetManager, UserError } from "@herdctl/core";
import { noSuchRoute } from "../../failure.ts";
import { readBody, SenderGone } from "../../hooks/read-body.ts";
import { Room } from "../../hooks/room.ts";
import { TokenCheck } from "./token-check.ts";

/** Answers a request that came to `/mcp`, or throws why it is refused. */
export type McpDoor = (request: Request, incoming: IncomingMessage) => Promise<Response>;

const mebibyte = 1024 * 1024;
const bodyLimit = mebibyte;
const inFlight = 16 * mebibyte;

/** The fleet as tools, for as long as the configuration says so. */
export function openMcpDoor(
  fleet: FleetManager,
  { onBug }: { onBug?(error: unknown): void },
): McpDoor {
  const room = new Room(inFlight);
  const check = new TokenCheck(fleet.mcp);
  return async (request, incoming) => {
    const { method } = request;
    if (!fleet.mcp.isOpen) throw noSuchRoute(method, "/mcp");
    check.admit(incoming);
    if (method !== "POST") return new Response(null, { status: 405, headers: onlyPost });
    const raw = await readBody(incoming, bodyLimit, room).catch(unlessGone);
    if (!raw) return new Response(null, { status: 408 });
    const body = parse(raw);
    // Most fleets are never asked this way, and the library takes its time to load.
    const { answerMcp } = await import("./answer-mcp.ts");
    return answerMcp(request, body, {
      road: { read: (question) => question(fleet), act: (question) => question(fleet) },
      allow: fleet.mcp.allow,
      by: "somebody with the token",
      onBug,
    });
  };
}

/** Nothing is said unasked, so there is no stream to open with GET. */
const onlyPost = { allow: "POST" };

function unlessGone(error: unknown): undefined {
  if (!(error instanceof SenderGone)) throw error;
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not JSON", { cause });
  }
}
