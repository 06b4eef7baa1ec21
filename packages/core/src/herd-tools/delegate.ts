import { z } from "zod";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdTool, herdTool } from "./herd-tool.ts";
import { runErrand } from "./run-errand.ts";

const longestPrompt = 100_000;

export const delegateInput = z.strictObject({
  agent: z.string().min(1).describe("Name of the agent"),
  prompt: z.string().trim().min(1).max(longestPrompt).describe("What it is to do, in full"),
  wait: z
    .boolean()
    .default(false)
    .describe("Whether to wait until it is done and be told what came of it"),
});

/** Hands work to another agent. The fleet decides whether it may, and makes the job. */
export function delegateTool(doors: HerdDoors): HerdTool {
  const { may_trigger } = doors.order.agent;
  const whom = may_trigger.length > 0 ? may_trigger.join(", ") : "none";
  return herdTool({
    name: "delegate",
    title: "Hand work to another agent",
    description: `Gives another agent of this fleet a job of its own. It knows nothing of your conversation: tell it all it needs. Agents you may name (\`*\` stands for any text): ${whom}. A refusal is final: do not try again.`,
    input: delegateInput,
    call: (input, signal) => runErrand(doors, "delegate", input, signal),
  });
}
