// A process MCP server with a tool for every kind of message and failure of a bridge.
import { appendFileSync } from "node:fs";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const { DIARY, SLOW_START, STAYS } = process.env;
const diary = (line) => DIARY && appendFileSync(DIARY, `${line}\n`);
diary(`started ${process.pid}`);
if (SLOW_START) await new Promise((resolve) => setTimeout(resolve, Number(SLOW_START)));
if (STAYS) {
  process.on("SIGTERM", () => diary("SIGTERM"));
  setInterval(() => undefined, 1_000);
}

const text = (value) => ({ content: [{ type: "text", text: String(value) }] });
const server = new McpServer({ name: "rich", version: "1.0.0" }, { capabilities: { logging: {} } });
const readOnly = { readOnlyHint: true };
const tools = {
  environment: () => text(JSON.stringify(process.env)),
  place: () => text(process.cwd()),
  die: () => {
    process.stderr.write(`I die of ${process.env.SECRET ?? "nothing"}\n`);
    process.exit(3);
  },
  big: () => text("x".repeat(5_000_000)),
  roots: (_, { sendRequest }) =>
    sendRequest({ method: "roots/list" }, z.any()).then(JSON.stringify, String).then(text),
  ping: (_, { sendRequest }) =>
    sendRequest({ method: "ping" }, z.any()).then(JSON.stringify, String).then(text),
  steps: async (_, { sendNotification, _meta }) => {
    for (const progress of [1, 2, 3]) {
      const params = { progressToken: _meta.progressToken, progress, total: 3 };
      await sendNotification({ method: "notifications/progress", params });
    }
    return text("three steps");
  },
  hang: (_, { signal }) =>
    new Promise(() => {
      diary("hanging");
      signal.addEventListener("abort", () => diary("cancelled"));
    }),
  grow: () => {
    server.registerTool("grown", { inputSchema: {} }, () => text("I am new"));
    return text("a tool more");
  },
  flood: () => {
    const data = "y".repeat(1_000);
    const params = { level: "info", data };
    const line = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params })}\n`;
    for (let count = 0; count < 20_000; count += 1) process.stdout.write(line);
    return text("flooded");
  },
  garbage: () => {
    process.stdout.write('not json\n{"jsonrpc":"2.0"}\n[]\n\0\xff\n{"id":1,"result":7}\n');
    process.stdout.write('{"jsonrpc":"2.0","id":4711,"result":{"content":[]}}\n');
    return text("after the garbage");
  },
  endless: () => {
    process.stdout.write("z".repeat(12_000_000));
    return text("never read");
  },
};
for (const [name, tool] of Object.entries(tools)) {
  server.registerTool(name, { inputSchema: {}, annotations: readOnly }, tool);
}
const wait = { inputSchema: { name: z.string() }, annotations: readOnly };
server.registerTool("wait", wait, async ({ name }) => {
  diary(`begin ${name}`);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  diary(`end ${name}`);
  return text(`waited for ${name}`);
});
await server.connect(new StdioServerTransport());
