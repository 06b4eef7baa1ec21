import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

// The schemas of the MCP SDK take 80 ms to load, and forwarded messages only need a basic check.
const id = z.union([z.string(), z.number()]);
const jsonrpc = z.literal("2.0");
const jsonRpcShape = z.union([
  z.looseObject({ jsonrpc, method: z.string(), id: id.optional() }),
  z.looseObject({ jsonrpc, id, result: z.looseObject({}) }),
  z.looseObject({ jsonrpc, id: id.optional(), error: z.looseObject({ message: z.string() }) }),
]);

/** A message of the Model Context Protocol; unknown fields are kept. */
export const jsonRpcMessageSchema = z.custom<JSONRPCMessage>(
  (value) => jsonRpcShape.safeParse(value).success,
);

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

export function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return !("method" in message);
}
