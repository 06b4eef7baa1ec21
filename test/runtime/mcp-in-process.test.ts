import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { inProcessServer } from "../../packages/core/src/runner/runtime/mcp/in-process-server.ts";
import {
  initOf,
  obedientStage,
  obey,
  perform,
  type RuntimeUnderTest,
  resultOf,
  runtimes,
  toolResults,
} from "../support/runtime.ts";

/** A server of our own program, as the tools of herdctl itself are to be. */
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
  const on = await obedientStage();
  const performance = await perform(runtime, on, {
    agent: "model: claude-sonnet-4-5",
    prompt,
    options: { bridgedServers: { herd: inProcessServer(() => noteServer(notes)) } },
  });
  return { ...performance, notes, on };
}

const prompt = [
  obey(["mcp__herd__note", { text: "first" }]),
  obey(["mcp__herd__refuse", { text: "today" }]),
  obey(["mcp__herd__note", { text: "second" }]),
].join("\n\n");

describe.each(runtimes)("$name", (runtime) => {
  test("a server in our own process has tools for claude, without a process or a port", async () => {
    const { messages, notes } = await takeNotes(runtime, prompt);
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "herd", status: "connected" }]);
    expect(notes).toEqual(["first", "second"]);
    const [first, refused, second] = toolResults(messages);
    expect([first, second].join()).toMatch(/1 notes.*2 notes/);
    expect(refused).toContain("not today");
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
  });

  test("a server that cannot be made is one that failed", async () => {
    const { messages } = await perform(runtime, await obedientStage(), {
      options: {
        bridgedServers: { herd: inProcessServer(() => Promise.reject(new Error("no herd"))) },
      },
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "herd", status: "failed" }]);
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
  });
});

test("both runtimes tell the model the same of bridged servers, and show the same of them", async () => {
  const [sdk, cli] = runtimes;
  if (!sdk || !cli) throw new Error("the runtimes to compare are missing");
  const [a, b] = [await takeNotes(sdk, prompt), await takeNotes(cli, prompt)];
  const shown = ({ messages, on }: typeof a) => ({
    servers: initOf(messages)?.mcp_servers,
    tools: initOf(messages)?.tools,
    results: toolResults(messages),
    told: on.rehearsal.ledger.main.map(({ body }) => mcpParts(body)),
  });
  expect(shown(b)).toEqual(shown(a));
});

/** The tools that a request offers, and what it says of servers. */
function mcpParts(body: unknown): unknown {
  const { tools } = z.looseObject({ tools: z.array(z.unknown()) }).parse(body);
  const said = JSON.stringify(body).match(/mcp__herd__\w+/g);
  return { tools, said };
}
