import type { ToolCallKind } from "../../store/model/tool-call.ts";
import { delegateInputSchema, scheduleInputSchema } from "../contract/tool-inputs.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";

/** Sends the call to the fleet process. The run does not count as stalled while it waits. */
async function callFleet(
  { sendToolCall, whileAwaiting }: AgentToolContext,
  kind: ToolCallKind,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  if (!sendToolCall) return refuse("Refused: this run does not belong to a fleet.");
  const answer = await whileAwaiting(sendToolCall(kind, input, signal));
  return answer.kind === "done" ? { text: answer.text } : refuse(`Refused: ${answer.reason}`);
}

/** Delegates work to another agent. The fleet checks permission and creates the job. */
export function delegateTool(context: AgentToolContext): AgentTool {
  const { may_trigger } = context.order.agent;
  const allowedAgents = may_trigger.length > 0 ? may_trigger.join(", ") : "none";
  return defineAgentTool({
    name: "delegate",
    title: "Hand work to another agent",
    description: `Creates a job for another agent of this fleet. That agent does not see your conversation, so include everything it needs. Agents you may use (\`*\` matches any text): ${allowedAgents}. A refusal is final: do not try again.`,
    input: delegateInputSchema,
    call: (input, signal) => callFleet(context, "delegate", input, signal),
  });
}

/** Manages the agent's own schedules. A person must approve changes that exceed its bounds. */
export function scheduleTool(context: AgentToolContext): AgentTool {
  return defineAgentTool({
    name: "schedule",
    title: "List and plan your own runs",
    description:
      "Lists your schedules and plans further runs of yours. Requests that exceed your bounds need approval by a person, which may take long.",
    input: scheduleInputSchema,
    call: (input, signal) => callFleet(context, "schedule", input, signal),
  });
}
