import type { JSONRPCNotification, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** What an agent's rules must allow before a request may reach a bridged server. */
export type RequiredAccess =
  | "always"
  | "tool"
  | "list_resources"
  | "read_resources"
  | "whole_server";

/** Requests from `claude` to a server. Other methods are refused. */
const requestsToServer = new Map<string, RequiredAccess>([
  ["initialize", "always"],
  ["ping", "always"],
  ["tools/list", "always"],
  ["tools/call", "tool"],
  ["resources/list", "list_resources"],
  ["resources/templates/list", "list_resources"],
  ["resources/read", "read_resources"],
  ["resources/subscribe", "read_resources"],
  ["resources/unsubscribe", "read_resources"],
  ["prompts/list", "whole_server"],
  ["prompts/get", "whole_server"],
  ["completion/complete", "whole_server"],
  ["logging/setLevel", "whole_server"],
]);

const notificationsToServer = new Set([
  "notifications/initialized",
  "notifications/cancelled",
  "notifications/progress",
]);

/** Servers may only ping `claude`: no sampling, no roots, no questions to the user. */
const requestsToClaude = new Set(["ping"]);

const notificationsToClaude = new Set([
  "notifications/cancelled",
  "notifications/message",
  "notifications/progress",
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/tools/list_changed",
]);

export function requiredAccessFor(method: string): RequiredAccess | undefined {
  return requestsToServer.get(method);
}

export function canNotifyServer(method: string): boolean {
  return notificationsToServer.has(method);
}

export function canReachClaude(message: JSONRPCRequest | JSONRPCNotification): boolean {
  return /* defence: bridge-requests-to-claude */ (
    "id" in message ? requestsToClaude : notificationsToClaude
  ).has(message.method);
}

/** The capabilities that a server may offer, with the access that each requires. */
const capabilities = new Map<string, RequiredAccess>([
  ["tools", "always"],
  ["resources", "read_resources"],
  ["prompts", "whole_server"],
  ["completions", "whole_server"],
  ["logging", "whole_server"],
]);

/** The `initialize` request without client capabilities. */
export function withoutCapabilities(request: JSONRPCRequest): JSONRPCRequest {
  return { ...request, params: { ...request.params, capabilities: {} } };
}

const serverOfferSchema = z.looseObject({ capabilities: z.record(z.string(), z.unknown()) });

/** The result of `initialize` without capabilities that the agent may not use. */
export function filterCapabilities(
  result: Record<string, unknown>,
  canAccess: (access: RequiredAccess) => boolean,
): Record<string, unknown> {
  const offered = serverOfferSchema.safeParse(result);
  if (!offered.success) return result;
  const permitted = Object.entries(offered.data.capabilities).filter(([name]) => {
    const access = capabilities.get(name);
    return access !== undefined && canAccess(access);
  });
  return { ...result, capabilities: Object.fromEntries(permitted) };
}
