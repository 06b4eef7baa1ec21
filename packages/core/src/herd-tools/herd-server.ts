import type { HerdNote } from "../runner/own-tools.ts";
import type { BridgedServer } from "../runner/runtime/mcp/bridged-server.ts";
import { inProcessServer, type ServerInstance } from "../runner/runtime/mcp/in-process-server.ts";
import { type HerdAnswer, type HerdTool, refusal } from "./herd-tool.ts";

/** Read anew at each call: who lays other tools there has the server use those. */
export interface HerdTable {
  tools: readonly HerdTool[];
  /** What the model is told of them all, if there is anything. */
  instructions: string | undefined;
  note(note: HerdNote): Promise<void>;
}

/** The tools of one run as an MCP server in our own process: no port, nothing to log in to. */
export function herdServer(table: HerdTable): BridgedServer {
  return inProcessServer(() => makeServer(table));
}

async function makeServer(table: HerdTable): Promise<ServerInstance> {
  const { instructions } = table;
  const [{ Server }, { CallToolRequestSchema, ListToolsRequestSchema }] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const server = new Server(
    { name: "herd", version: "1" },
    { capabilities: { tools: {} }, ...(instructions !== undefined && { instructions }) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: table.tools.map(shown) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { text, isError = false } = await call(table, params.name, params.arguments, signal);
    return { content: [{ type: "text" as const, text }], isError };
  });
  return server;
}

function shown({ name, title, description, inputSchema }: HerdTool) {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: "object" as const },
    // There are few of them: to be searched for, as tools of large servers are, would hide them.
    _meta: { "anthropic/alwaysLoad": true },
  };
}

async function call(
  { tools, note }: HerdTable,
  name: string,
  input: unknown,
  signal: AbortSignal,
): Promise<HerdAnswer> {
  const tool = tools.find((one) => one.name === name);
  const answer = tool
    ? await tool.call(input ?? {}, signal)
    : refusal(`There is no tool \`${name}\` for this agent.`);
  const event = answer.isError ? "refused" : "answered";
  await note({ tool: name.slice(0, 64), event, text: answer.text.slice(0, longestNote) });
  return answer;
}

const longestNote = 500;
