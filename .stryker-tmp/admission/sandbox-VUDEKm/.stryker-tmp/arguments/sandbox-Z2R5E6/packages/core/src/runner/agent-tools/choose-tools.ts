import type { HerdToolName } from "@herdctl/config";
import type { RunOrder } from "../contract/run-order.ts";
import type { RunTools } from "../execution/run-tools.ts";
import type { AgentTool, AgentToolContext } from "./agent-tool.ts";
import { artifactTool } from "./artifact.ts";
import { askTool } from "./ask.ts";
import { delegateTool, scheduleTool } from "./delegate-and-schedule.ts";
import { memoryTool } from "./memory.ts";
import { progressTool, reportTool } from "./report.ts";
import { createToolServer, type ToolTable } from "./tool-server.ts";

const serverName = "herd";

const toolFactories: Record<HerdToolName, (context: AgentToolContext) => AgentTool> = {
  report: reportTool,
  ask: askTool,
  artifact: artifactTool,
  progress: progressTool,
  schedule: scheduleTool,
  memory: memoryTool,
  delegate: delegateTool,
};

export function createToolTable(): ToolTable {
  return { tools: [], instructions: undefined, note: async () => undefined };
}

/**
 * Creates the tools that the agent has in this run, and an MCP server if there are any. In a table of
 * an earlier turn, which its server still uses, they replace the tools of that turn.
 */
export function chooseTools(
  context: AgentToolContext,
  table: ToolTable = createToolTable(),
): RunTools {
  const tools = toolNames(context.order).map((name) => toolFactories[name](context));
  if (tools.length === 0) return { servers: {}, allowed: [] };
  const instructions = context.order.outputSchema ? reportInstruction : undefined;
  Object.assign(table, { tools, instructions, note: context.note });
  return {
    servers: { [serverName]: createToolServer(table) },
    allowed: tools.map(({ name }) => `mcp__${serverName}__${name}`),
  };
}

/** A run that must report always has the tool `report`. */
function toolNames({ agent, outputSchema }: RunOrder): HerdToolName[] {
  return [...new Set([...agent.tools, ...(outputSchema ? ["report" as const] : [])])];
}

const reportInstruction =
  "This run only succeeds with a report: call the tool `report` when you know the result, before you finish. The tool's input schema defines its content.";
