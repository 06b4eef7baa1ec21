import type { IncomingMessage } from "node:http";
import type { FleetManager } from "@herdctl/core";
import { type Allowance, type Scope, UserError } from "@herdctl/protocol";
import { fleetForCaller } from "../../create-app.ts";
import { routeNotFoundError } from "../../error-response.ts";
import { ByteBudget } from "../../webhooks/byte-budget.ts";
import { ClientDisconnectedError, readBody } from "../../webhooks/read-body.ts";
import { McpAuthenticator } from "./mcp-authenticator.ts";

/** Handles a request to `/mcp`, or throws the reason for refusing it. */
export type McpHandler = (request: Request, incoming: IncomingMessage) => Promise<Response>;

const mebibyte = 1024 * 1024;
const maxBodyBytes = mebibyte;
const maxInFlightBytes = 16 * mebibyte;

/** Serves MCP over HTTP while the configuration enables it. */
export function createMcpHandler(
  fleet: FleetManager,
  { onBug }: { onBug?(error: unknown): void },
): McpHandler {
  const inFlightBudget = new ByteBudget(maxInFlightBytes);
  const authenticator = new McpAuthenticator(fleet);
  return async (request, incoming) => {
    const { method } = request;
    if (!fleet.mcp.isEnabled) throw routeNotFoundError(method, "/mcp");
    const caller = await authenticator.authenticate(incoming);
    if (method !== "POST") return new Response(null, { status: 405, headers: postOnlyHeaders });
    const raw = await readBody(incoming, maxBodyBytes, inFlightBudget).catch(ignoreDisconnect);
    if (!raw) return new Response(null, { status: 408 });
    const body = parseJsonBody(raw);
    // Loaded on demand: most fleets never get MCP requests, and the library loads slowly.
    const { handleMcpRequest } = await import("./handle-mcp-request.ts");
    const control = fleetForCaller(fleet, caller);
    const scopeAllowances = allowancesByScope[caller.scope];
    return handleMcpRequest(request, body, {
      fleetProvider: { read: (action) => action(control), control: (action) => action(control) },
      allowances: fleet.mcp.allow.filter((allowance) => scopeAllowances.includes(allowance)),
      onBug,
    });
  };
}

/** The allowances that a token of each scope may use, if the configuration enables them. */
const allowancesByScope: Record<Scope, readonly Allowance[]> = {
  read: [],
  trigger: ["trigger"],
  answer: ["answer"],
  admin: ["trigger", "answer", "cancel"],
};

/** The server sends no messages on its own, so it offers no GET stream. */
const postOnlyHeaders = { allow: "POST" };

function ignoreDisconnect(error: unknown): undefined {
  if (!(error instanceof ClientDisconnectedError)) throw error;
}

function parseJsonBody(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new UserError("request_invalid", "the body is not JSON", { cause });
  }
}
