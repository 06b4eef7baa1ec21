import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { ToolNote } from "../execution/run-tools.ts";
import type { BridgedServer } from "../runtimes/mcp/bridged-server.ts";
import { type AgentTool, refuse, type ToolAnswer } from "./agent-tool.ts";

/** The server reads this table at each call, so that its tools can be replaced. */
export interface ToolTable {
  tools: readonly AgentTool[];
  /** Instructions for the model about all tools, if any. */
  instructions: string | undefined;
  note(note: ToolNote): Promise<void>;
}

/** The tools of one run as an MCP server in this process, without a port or authentication. */
export function createToolServer(table: ToolTable): BridgedServer {
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
export interface ServerInstance {
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
