// A process MCP server with a tool, a resource and a prompt.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "db", version: "1.0.0" });
server.registerTool("query", { inputSchema: {} }, () => ({
  content: [{ type: "text", text: "rows" }],
}));
server.registerResource("secret", "db://secret", {}, () => {
  return { contents: [{ uri: "db://secret", text: "canary-of-the-resource" }] };
});
server.registerPrompt("hello", {}, () => ({ messages: [] }));
await server.connect(new StdioServerTransport());
