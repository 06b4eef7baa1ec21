import type { HerdToolName } from "../config/schema/agent.ts";
import type { OwnTools } from "../runner/own-tools.ts";
import type { RunOrder } from "../runner/run-order.ts";
import { artifactTool } from "./artifact.ts";
import { askTool } from "./ask.ts";
import { delegateTool } from "./delegate.ts";
import type { HerdDoors } from "./herd-doors.ts";
import { type HerdTable, herdServer } from "./herd-server.ts";
import type { HerdTool } from "./herd-tool.ts";
import { memoryTool } from "./memory.ts";
import { progressTool } from "./progress.ts";
import { reportTool } from "./report.ts";
import { scheduleTool } from "./schedule.ts";

const serverName = "herd";

const factories: Record<HerdToolName, (doors: HerdDoors) => HerdTool> = {
  report: reportTool,
  ask: askTool,
  artifact: artifactTool,
  progress: progressTool,
  schedule: scheduleTool,
  memory: memoryTool,
  delegate: delegateTool,
};

export function emptyTable(): HerdTable {
  return { tools: [], instructions: undefined, note: async () => undefined };
}

/**
 * The tools that an agent has in this run: those that it was given, and no server without any. On
 * a table that a server of an earlier turn uses they take the place of that turn's.
 */
export function chooseTools(doors: HerdDoors, table: HerdTable = emptyTable()): OwnTools {
  const tools = toolNames(doors.order).map((name) => factories[name](doors));
  if (tools.length === 0) return { servers: {}, allowed: [] };
  const instructions = doors.order.outputSchema ? demand : undefined;
  Object.assign(table, { tools, instructions, note: doors.note });
  return {
    servers: { [serverName]: herdServer(table) },
    allowed: tools.map(({ name }) => `mcp__${serverName}__${name}`),
  };
}

/** Who must report can. */
function toolNames({ agent, outputSchema }: RunOrder): HerdToolName[] {
  return [...new Set([...agent.tools, ...(outputSchema ? ["report" as const] : [])])];
}

const demand =
  "This run counts only with a report: call the tool `report` once its result is known, before you end. What it has to hold, the tool says.";
