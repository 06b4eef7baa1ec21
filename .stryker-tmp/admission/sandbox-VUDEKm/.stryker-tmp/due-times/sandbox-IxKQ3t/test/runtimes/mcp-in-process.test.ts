import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createInProcessServer } from "../../packages/core/src/runner/agent-tools/tool-server.ts";
import {
  executeOnRuntime,
  initOf,
  type RuntimeUnderTest,
  resultOf,
  runtimes,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

/** An in-process server like that of herdctl's own tools. */
function noteServer(notes: string[]): McpServer {
  const server = new McpServer({ name: "herd", version: "1.0.0" });
  const input = { inputSchema: { text: z.string() } };
  server.registerTool("note", input, ({ text }) => {
    notes.push(text);
    return { content: [{ type: "text", text: `${notes.length} notes` }] };
  });
  server.registerTool("refuse", input, ({ text }) => {
    throw new Error(`not ${text}`);
  });
  return server;
}

async function takeNotes(runtime: RuntimeUnderTest, prompt: string) {
  const notes: string[] = [];
  const harness = await startObedientHarness();
  const performance = await executeOnRuntime(runtime, harness, {
    agent: "model: claude-sonnet-4-5",
    prompt,
    options: { bridgedServers: { herd: createInProcessServer(() => noteServer(notes)) } },
  });
  return { ...performance, notes, on: harness };
}

const prompt = [
  toolCallPrompt(["mcp__herd__note", { text: "first" }]),
  toolCallPrompt(["mcp__herd__refuse", { text: "today" }]),
  toolCallPrompt(["mcp__herd__note", { text: "second" }]),
].join("\n\n");

describe.each(runtimes)("$name", (runtime) => {
  test("offers tools of an in-process server without a process or a port", async () => {
    const { messages, notes } = await takeNotes(runtime, prompt);
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "herd", status: "connected" }]);
    expect(notes).toEqual(["first", "second"]);
    const [first, refused, second] = toolResultTexts(messages);
    expect([first, second].join()).toMatch(/1 notes.*2 notes/);
    expect(refused).toContain("not today");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
  });

  test("reports a server that cannot be created as failed", async () => {
    const { messages } = await executeOnRuntime(runtime, await startObedientHarness(), {
      options: {
        bridgedServers: { herd: createInProcessServer(() => Promise.reject(new Error("no herd"))) },
      },
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "herd", status: "failed" }]);
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
  });
});

test("shows the model and the log the same about bridged servers on both runtimes", async () => {
  const [sdk, cli] = runtimes;
  if (!sdk || !cli) throw new Error("the runtimes to compare are missing");
  const [a, b] = [await takeNotes(sdk, prompt), await takeNotes(cli, prompt)];
  const shown = ({ messages, on }: typeof a) => ({
    servers: initOf(messages)?.mcp_servers,
    tools: initOf(messages)?.tools,
    results: toolResultTexts(messages),
    requests: on.rehearsal.ledger.main.map(({ body }) => mcpParts(body)),
  });
  expect(shown(b)).toEqual(shown(a));
});

/** The tools of a request, and the MCP tool names in its text. */
function mcpParts(body: unknown): unknown {
  const { tools } = z.looseObject({ tools: z.array(z.unknown()) }).parse(body);
  const toolNames = JSON.stringify(body).match(/mcp__herd__\w+/g);
  return { tools, toolNames };
}
