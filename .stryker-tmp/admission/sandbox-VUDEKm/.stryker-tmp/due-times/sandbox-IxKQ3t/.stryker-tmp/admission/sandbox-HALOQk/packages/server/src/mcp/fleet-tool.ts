import type { Allowance } from "@herdctl/protocol";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { FleetProvider } from "./fleet-provider.ts";

/** An MCP tool as data. Its dependencies are passed with each call. */
export interface FleetTool<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> {
  name: string;
  title: string;
  description: string;
  /** The allowance that enables the tool. Read-only tools need none. */
  requiredAllowance?: Allowance;
  annotations: ToolHints;
  input: I;
  /** Missing for tools that return text, because clients pass only structured content to the model if there is any. */
  output?: O;
  handle(context: ToolContext, input: z.output<I>): Promise<ToolResult<O>>;
}

export interface ToolContext {
  fleetProvider: FleetProvider;
  /** The client's own name, recorded as a note with answers. */
  clientName: string;
  signal: AbortSignal;
}

type ToolResult<O extends z.ZodObject = z.ZodObject> = { data: z.input<O> } | { texts: string[] };

type ToolHints = Required<Omit<ToolAnnotations, "title">>;

/** Annotations of tools that change nothing. */
export const readOnlyHints: ToolHints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Checks the input and output types of a tool before it becomes an untyped `FleetTool`. */
export function defineFleetTool<I extends z.ZodObject, O extends z.ZodObject>(
  tool: FleetTool<I, O>,
): FleetTool {
  // The MCP server has validated the input with the tool's schema.
  return { ...tool, handle: (context, input) => tool.handle(context, input as z.output<I>) };
}
