import { z } from "zod";
import { count } from "../quantities.ts";
import { nonEmptyText } from "../strings.ts";
import { block, free } from "../trust.ts";
import { effort, permissionMode } from "./choices.ts";

const names = z.array(nonEmptyText);

const subagent = block({
  description: free(nonEmptyText.describe("When the main agent should use this subagent.")),
  prompt: free(nonEmptyText.describe("System prompt of the subagent.")),
  tools: free(names.optional().describe("Tools it may use. Default: those of the main agent.")),
  denied_tools: free(names.optional().describe("Tools it cannot use.")),
  model: free(nonEmptyText.optional().describe("Model to use; `inherit` is the main agent's.")),
  effort: free(effort.optional().describe("Reasoning effort of the model.")),
  max_turns: free(count.optional().describe("Maximum number of turns per call.")),
  skills: free(names.optional().describe("Skills whose text it gets at its start.")),
  mcp_servers: free(names.optional().describe("Names of `mcp_servers` that it may use.")),
  permission_mode: free(
    permissionMode.optional().describe("How it handles tools that need permission."),
  ),
  background: free(
    z.boolean().optional().describe("Always run it in the background of the main agent."),
  ),
  memory: free(
    z
      .enum(["user", "project", "local"])
      .optional()
      .describe("Folder of the notes that it keeps between calls."),
  ),
  initial_prompt: free(
    nonEmptyText.optional().describe("First prompt of a session whose `main_agent` it is."),
  ),
});

/** Custom subagents, by name. */
export const subagents = z.record(nonEmptyText, subagent);
