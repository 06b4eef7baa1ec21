// A process MCP server whose tools ask the user for data.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const { FORM } = process.env;
const server = new McpServer({ name: "shop", version: "1.0.0" });
const toText = (answer) => ({ content: [{ type: "text", text: JSON.stringify(answer) }] });
server.registerTool("form", { inputSchema: {} }, async () =>
  toText(
    await server.server.elicitInput({
      message: "Which release?",
      requestedSchema: JSON.parse(FORM),
    }),
  ),
);
server.registerTool("page", { inputSchema: { url: z.string() } }, async ({ url }) =>
  toText(
    await server.server.elicitInput({ mode: "url", message: "Sign in", url, elicitationId: "e1" }),
  ),
);
await server.connect(new StdioServerTransport());
