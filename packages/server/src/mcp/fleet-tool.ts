import type { Allowance } from "@herdctl/core";
import type { ToolAnnotations } from "@modelcontextprotocol/sdk/types.js";
import type { z } from "zod";
import type { FleetRoad } from "./fleet-road.ts";

/** One tool as data; what it needs of the world comes with each call. */
export interface FleetTool<
  I extends z.ZodObject = z.ZodObject,
  O extends z.ZodObject = z.ZodObject,
> {
  name: string;
  title: string;
  description: string;
  /** What must have been opened for it; without it the tool only looks. */
  needs?: Allowance;
  hints: Hints;
  input: I;
  /** Not given where the answer is a text to be read: clients show a model data alone, if there is any. */
  output?: O;
  call(context: ToolContext, input: z.output<I>): Promise<ToolAnswer<O>>;
}

export interface ToolContext {
  road: FleetRoad;
  /** What the client calls itself; kept beside the identity of whoever answers. */
  note: string;
  signal: AbortSignal;
}

type ToolAnswer<O extends z.ZodObject = z.ZodObject> = { data: z.input<O> } | { texts: string[] };

type Hints = Required<Omit<ToolAnnotations, "title">>;

/** Of every tool that changes nothing. */
export const looking: Hints = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Keeps the types of input and output together until the tool is one among others. */
export function fleetTool<I extends z.ZodObject, O extends z.ZodObject>(
  tool: FleetTool<I, O>,
): FleetTool {
  // The edge: the server has checked the input by the tool's own schema.
  return { ...tool, call: (context, input) => tool.call(context, input as z.output<I>) };
}
