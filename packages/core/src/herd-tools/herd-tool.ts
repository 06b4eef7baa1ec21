import { z } from "zod";
import type { JsonSchema } from "../config/json-schema.ts";
import type { HerdToolName } from "../config/schema/agent.ts";

/** One tool of the fleet, as an agent has it in its run. */
export interface HerdTool {
  name: HerdToolName;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  call(input: unknown, signal: AbortSignal): Promise<HerdAnswer>;
}

/** What the model is told; an error is a refusal, with its reason. */
export interface HerdAnswer {
  text: string;
  isError?: boolean;
}

export interface HerdToolParts<S extends z.ZodType>
  extends Pick<HerdTool, "name" | "title" | "description"> {
  input: S;
  call(input: z.output<S>, signal: AbortSignal): Promise<HerdAnswer>;
}

/** A tool whose input is read by a schema before it is called. */
export function herdTool<S extends z.ZodType>(parts: HerdToolParts<S>): HerdTool {
  const { name, title, description, input } = parts;
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    title,
    description,
    inputSchema,
    async call(given, signal) {
      const read = input.safeParse(given);
      return read.success
        ? await parts.call(read.data, signal)
        : refusal(z.prettifyError(read.error));
    },
  };
}

export function refusal(text: string): HerdAnswer {
  return { text, isError: true };
}
