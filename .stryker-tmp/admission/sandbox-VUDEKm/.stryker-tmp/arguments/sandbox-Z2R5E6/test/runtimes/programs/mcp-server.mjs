// A process MCP server with one tool that returns its arguments and environment.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "echo", version: "1.0.0" });
server.registerTool("shout", { inputSchema: { text: z.string() } }, ({ text }) => ({
  content: [{ type: "text", text: `${text.toUpperCase()} ${process.env.LOUDNESS ?? "quiet"}` }],
}));
await server.connect(new StdioServerTransport());
