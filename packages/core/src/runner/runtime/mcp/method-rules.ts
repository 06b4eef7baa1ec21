import type { JSONRPCNotification, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

/** What the rules of an agent have to name before a request may reach a bridged server. */
export type Access = "always" | "tool" | "list_resources" | "read_resources" | "whole_server";

/** Requests of `claude` to a server. A method that is not listed is refused. */
const requestsToServer = new Map<string, Access>([
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

/** No sampling, no roots, no questions to the user: a server asks whether `claude` is there. */
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

export function accessFor(method: string): Access | undefined {
  return requestsToServer.get(method);
}

export function mayNotifyServer(method: string): boolean {
  return notificationsToServer.has(method);
}

export function mayReachClaude(word: JSONRPCRequest | JSONRPCNotification): boolean {
  return ("id" in word ? requestsToClaude : notificationsToClaude).has(word.method);
}

/** What a server may offer, each with what the rules have to name. */
const capabilities = new Map<string, Access>([
  ["tools", "always"],
  ["resources", "read_resources"],
  ["prompts", "whole_server"],
  ["completions", "whole_server"],
  ["logging", "whole_server"],
]);

/** An introduction that offers the server nothing of the client. */
export function withoutCapabilities(request: JSONRPCRequest): JSONRPCRequest {
  return { ...request, params: { ...request.params, capabilities: {} } };
}

const offer = z.looseObject({ capabilities: z.record(z.string(), z.unknown()) });

/** The answer to an introduction, without capabilities that the agent may not use. */
export function permittedOffer(
  result: Record<string, unknown>,
  permits: (access: Access) => boolean,
): Record<string, unknown> {
  const offered = offer.safeParse(result);
  if (!offered.success) return result;
  const permitted = Object.entries(offered.data.capabilities).filter(([name]) => {
    const access = capabilities.get(name);
    return access !== undefined && permits(access);
  });
  return { ...result, capabilities: Object.fromEntries(permitted) };
}
