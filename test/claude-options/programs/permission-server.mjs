// An MCP server that allows every tool.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "judge", version: "1.0.0" });
const inputSchema = { tool_name: z.string(), input: z.record(z.string(), z.unknown()) };
server.registerTool("decide", { inputSchema }, ({ input }) => ({
  content: [{ type: "text", text: JSON.stringify({ behavior: "allow", updatedInput: input }) }],
}));
await server.connect(new StdioServerTransport());
