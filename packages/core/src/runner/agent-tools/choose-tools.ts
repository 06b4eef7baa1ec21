import type { HerdToolName } from "@herdctl/config";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { ToolCallKind } from "../../store/model/tool-call.ts";
import { delegateInputSchema, scheduleInputSchema } from "../contract/messages.ts";
import type { RunOrder } from "../contract/run-order.ts";
import type { RunTools, ToolNote } from "../execution/run-tools.ts";
import type { BridgedServer } from "../runtimes/mcp/bridged-server.ts";
import {
  type AgentTool,
  type AgentToolContext,
  defineAgentTool,
  refuse,
  type ToolAnswer,
} from "./agent-tool.ts";
import { artifactTool } from "./artifact.ts";
import { askTool } from "./ask.ts";
import { memoryTool } from "./memory.ts";
import { progressTool, reportTool } from "./report.ts";

/** The server reads this table at each call, so that its tools can be replaced. */
export interface ToolTable {
  tools: readonly AgentTool[];
  /** Instructions for the model about all tools, if any. */
  instructions: string | undefined;
  note(note: ToolNote): Promise<void>;
}

/** The tools of one run as an MCP server in this process, without a port or authentication. */
function createToolServer(table: ToolTable): BridgedServer {
  return createInProcessServer(() => createMcpServer(table));
}

async function createMcpServer(table: ToolTable): Promise<ServerInstance> {
  const { instructions } = table;
  const [{ Server }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const server = new Server(
    { name: "herd", version: "1" },
    { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: table.tools.map(toToolDescription),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { text, isError = false } = await callTool(table, params.name, params.arguments, signal);
    return { content: [{ type: "text" as const, text }], isError };
  });
  return server;
}

function toToolDescription({ name, title, description, inputSchema }: AgentTool) {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: "object" as const },
    // Always in context: there are few tools, and a tool search could miss them.
    _meta: { "anthropic/alwaysLoad": true },
  };
}

async function callTool(
  { tools, note }: ToolTable,
  name: string,
  input: unknown,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const tool = tools.find((candidate) => candidate.name === name);
  const answer = tool
    ? await tool.call(input ?? {}, signal)
    : refuse(`This agent has no tool \`${name}\`.`);
  const event = answer.isError ? "refused" : "answered";
  await note({ tool: name.slice(0, 64), event, text: answer.text.slice(0, maxNoteLength) });
  return answer;
}

const maxNoteLength = 500;

/** A server of the MCP SDK: `McpServer` or the lower-level `Server`. */
interface ServerInstance {
  connect(transport: Transport): Promise<void>;
}

/** A server in this process, without a separate process, port or authentication. */
export function createInProcessServer(
  make: () => ServerInstance | Promise<ServerInstance>,
): BridgedServer {
  return {
    async connect() {
      const { InMemoryTransport } = await import("@modelcontextprotocol/sdk/inMemory.js");
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      const server = await make();
      await server.connect(theirs);
      return ours;
    },
  };
}

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
function delegateTool(context: AgentToolContext): AgentTool {
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
function scheduleTool(context: AgentToolContext): AgentTool {
  return defineAgentTool({
    name: "schedule",
    title: "List and plan your own runs",
    description:
      "Lists your schedules and plans further runs of yours. Requests that exceed your bounds need approval by a person, which may take long.",
    input: scheduleInputSchema,
    call: (input, signal) => callFleet(context, "schedule", input, signal),
  });
}
