import type { HerdToolName, JsonSchema } from "@herdctl/config";
import { z } from "zod";
import type { SendToolCall } from "../../store/model/tool-call.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { RunToolContext } from "../execution/run-tools.ts";

/** A tool that herdctl offers to an agent during its run. */
export interface AgentTool {
  name: HerdToolName;
  title: string;
  description: string;
  inputSchema: JsonSchema;
  call(input: unknown, signal: AbortSignal): Promise<ToolAnswer>;
}

/** The result for the model. An error is a refusal with its reason. */
export interface ToolAnswer {
  text: string;
  isError?: boolean;
}

export interface AgentToolDefinition<S extends z.ZodType>
  extends Pick<AgentTool, "name" | "title" | "description"> {
  input: S;
  call(input: z.output<S>, signal: AbortSignal): Promise<ToolAnswer>;
}

/** Creates a tool whose input is validated with a schema. */
export function defineAgentTool<S extends z.ZodType>(
  definition: AgentToolDefinition<S>,
): AgentTool {
  const { name, title, description, input } = definition;
  const { $schema: _$schema, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return {
    name,
    title,
    description,
    inputSchema,
    async call(rawInput, signal) {
      const parsed = input.safeParse(rawInput);
      return parsed.success
        ? await definition.call(parsed.data, signal)
        : refuse(z.prettifyError(parsed.error));
    },
  };
}

export function refuse(text: string): ToolAnswer {
  return { text, isError: true };
}

/** Everything the tools of a run can use. */
export interface AgentToolContext extends RunToolContext {
  order: RunOrder;
  jobDir: string;
  stateDir: string;
  /** Sends a call to the fleet process; undefined for a run without a fleet. */
  sendToolCall?: SendToolCall;
}
