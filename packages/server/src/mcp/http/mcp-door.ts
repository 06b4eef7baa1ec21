import type { IncomingMessage } from "node:http";
import { type Allowance, type FleetManager, type Scope, UserError } from "@herdctl/core";
import { controlFor } from "../../create-app.ts";
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
  const check = new TokenCheck(fleet);
  return async (request, incoming) => {
    const { method } = request;
    if (!fleet.mcp.isOpen) throw noSuchRoute(method, "/mcp");
    const visitor = await check.admit(incoming);
    if (method !== "POST") return new Response(null, { status: 405, headers: onlyPost });
    const raw = await readBody(incoming, bodyLimit, room).catch(unlessGone);
    if (!raw) return new Response(null, { status: 408 });
    const body = parse(raw);
    // Most fleets are never asked this way, and the library takes its time to load.
    const { answerMcp } = await import("./answer-mcp.ts");
    const control = controlFor(fleet, visitor);
    const mayUse = allowancesOf[visitor.scope];
    return answerMcp(request, body, {
      road: { read: (question) => question(control), act: (question) => question(control) },
      allow: fleet.mcp.allow.filter((one) => mayUse.includes(one)),
      onBug,
    });
  };
}

/** Which of the tools that the configuration opens a token with this scope may use. */
const allowancesOf: Record<Scope, readonly Allowance[]> = {
  read: [],
  trigger: ["trigger"],
  answer: ["answer"],
  admin: ["trigger", "answer", "cancel"],
};

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
