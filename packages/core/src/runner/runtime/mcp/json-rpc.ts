import type {
  JSONRPCMessage,
  JSONRPCRequest,
  JSONRPCResponse,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

// The package's own schemas take 80 ms to load, and what passes through need not be understood.
const id = z.union([z.string(), z.number()]);
const jsonrpc = z.literal("2.0");
const shape = z.union([
  z.looseObject({ jsonrpc, method: z.string(), id: id.optional() }),
  z.looseObject({ jsonrpc, id, result: z.looseObject({}) }),
  z.looseObject({ jsonrpc, id: id.optional(), error: z.looseObject({ message: z.string() }) }),
]);

/** A message of the Model Context Protocol, with all that it holds. */
export const jsonRpcMessage = z.custom<JSONRPCMessage>((value) => shape.safeParse(value).success);

export function isRequest(message: JSONRPCMessage): message is JSONRPCRequest {
  return "method" in message && "id" in message;
}

export function isResponse(message: JSONRPCMessage): message is JSONRPCResponse {
  return !("method" in message);
}
