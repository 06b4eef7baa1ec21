import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { McpBridge } from "../../packages/core/src/runner/runtimes/mcp/bridge.ts";
import { ToolRules } from "../../packages/core/src/runner/runtimes/mcp/bridges.ts";
import { executeBridged } from "../support/mcp-bridge.ts";
import {
  initOf,
  resultOf,
  runtimes,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";

type Rules = ConstructorParameters<typeof ToolRules>[0];

const closedRules: Rules = { permission_mode: "default", allowed_tools: [], denied_tools: [] };
const openRules = (allowed: string[], denied: string[] = []): Rules => ({
  ...{ permission_mode: "default", allowed_tools: allowed, denied_tools: denied },
});
const bypassRules: Rules = { ...closedRules, permission_mode: "bypassPermissions" };

/** A bridge to a server that answers every request and records it. */
function createBridge(rules: Rules, capabilities: object = {}) {
  const seen: JSONRPCMessage[] = [];
  const answers: JSONRPCMessage[] = [];
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.onmessage = (message) => {
    seen.push(message);
    if (!("method" in message)) answers.push(message);
    else if ("id" in message) {
      const result = { capabilities, protocolVersion: "2025-11-25" };
      void theirs.send({ jsonrpc: "2.0", id: message.id, result });
    }
  };
  const kept = new ToolRules(rules);
  const bridge = new McpBridge(
    "db",
    { connect: async () => ours },
    {
      timeoutMs: 1_000,
      canCall: (tool, input) => kept.canCall("db", tool, input),
      canAccess: (access) => kept.canAccess("db", access),
      onSpawned: () => undefined,
      logNote: () => undefined,
    },
  );
  bridge.open();
  onTestFinished(() => bridge.close());
  const methods = () => seen.flatMap((one) => ("method" in one ? [one.method] : []));
  return { bridge, methods, seen, answers, say: (one: JSONRPCMessage) => theirs.send(one) };
}

const request = (method: string, params = {}): JSONRPCRequest => ({
  ...{ jsonrpc: "2.0", id: 1, method, params },
});

const resourceReads = ["resources/read", "resources/subscribe", "resources/unsubscribe"];
const resourceLists = ["resources/list", "resources/templates/list"];
const wholeServer = ["prompts/list", "prompts/get", "completion/complete", "logging/setLevel"];
const unknownMethods = [
  "tasks/get",
  "tasks/list",
  "server/discover",
  "Resources/read",
  "",
  "toString",
];
const guardedMethods = [...resourceReads, ...resourceLists, ...wholeServer];

async function passingMethods(rules: Rules): Promise<string[]> {
  const { bridge, methods } = createBridge(rules);
  for (const method of [...guardedMethods, ...unknownMethods])
    await bridge.sendRequest(request(method));
  return methods();
}

test.each<[string, Rules, string[]]>([
  ["no rules", closedRules, []],
  ["a tool of the server", openRules(["mcp__db__query", "mcp__db__q*"]), []],
  ["another server", openRules(["mcp__dbx", "mcp__d__*", "mcp__other__*"]), []],
  ["a tool with the same suffix", openRules(["mcp__db__*_"]), []],
  ["ReadMcpResourceTool", openRules(["ReadMcpResourceTool"]), resourceReads],
  ["ListMcpResourcesTool", openRules(["ListMcpResourcesTool"]), resourceLists],
  ["both resource tools", openRules(["*McpResource*"]), [...resourceReads, ...resourceLists]],
  ["the server", openRules(["mcp__db"]), guardedMethods],
  ["all tools of the server", openRules(["mcp__db__*"]), guardedMethods],
  ["all servers", openRules(["mcp__*"]), guardedMethods],
  [
    "the server except reading",
    openRules(["mcp__db"], ["ReadMcpResourceTool"]),
    [...resourceLists, ...wholeServer],
  ],
  [
    "everything except the denied server",
    openRules(["mcp__*", "ReadMcpResourceTool"], ["mcp__db__*"]),
    [],
  ],
  ["bypassPermissions", bypassRules, guardedMethods],
  ["bypassPermissions with the denied server", { ...bypassRules, denied_tools: ["mcp__db"] }, []],
])(
  "lets with rules for %s exactly these methods reach a bridged server",
  async (_, rules, expected) => {
    expect((await passingMethods(rules)).toSorted()).toEqual(expected.toSorted());
  },
);

test("answers a refused method with an error that names it", async () => {
  const { bridge } = createBridge(closedRules);
  expect(
    await bridge.sendRequest(request("resources/read", { uri: "secret://all" })),
  ).toMatchObject({
    error: { message: "MCP server `db`: `resources/read` is not permitted for this agent" },
  });
});

test("removes capabilities that the rules do not allow, in both directions", async () => {
  const all = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    logging: {},
    completions: {},
    tasks: {},
    experimental: {},
  };
  const offered = async (rules: Rules) => {
    const { bridge, seen } = createBridge(rules, all);
    const params = { capabilities: { sampling: {}, roots: {}, elicitation: {} } };
    const answer = await bridge.sendRequest(request("initialize", params));
    expect(seen).toMatchObject([{ method: "initialize", params: { capabilities: {} } }]);
    expect(JSON.stringify(seen)).not.toContain("sampling");
    return "result" in answer ? Object.keys(answer.result.capabilities ?? {}) : [];
  };
  expect(await offered(closedRules)).toEqual(["tools"]);
  expect(await offered(openRules(["ReadMcpResourceTool"]))).toEqual(["tools", "resources"]);
  expect(await offered(bypassRules)).toEqual([
    "tools",
    "resources",
    "prompts",
    "logging",
    "completions",
  ]);
});

test("forwards only listed notifications to the server", async () => {
  const { bridge, methods } = createBridge(bypassRules);
  for (const name of ["initialized", "progress", "roots/list_changed", "tasks/status", "made/up"]) {
    bridge.notify({ jsonrpc: "2.0", method: `notifications/${name}` });
  }
  await delay(50);
  expect(methods()).toEqual(["notifications/initialized", "notifications/progress"]);
});

test("forwards only listed requests and notifications of a server to claude", async () => {
  const { bridge, say, answers } = createBridge(bypassRules);
  const received: string[] = [];
  bridge.setListener(({ method }) => void received.push(method));
  await bridge.sendRequest(request("ping"));
  const asks = ["ping", "sampling/createMessage", "roots/list", "elicitation/create", "made/up"];
  for (const [id, method] of asks.entries()) await say({ jsonrpc: "2.0", id, method });
  for (const method of ["notifications/progress", "notifications/elicitation/complete"]) {
    await say({ jsonrpc: "2.0", method });
  }
  await delay(50);
  expect(received).toEqual(["ping", "notifications/progress"]);
  expect(answers).toMatchObject([1, 2, 3, 4].map((id) => ({ id, error: { code: -32601 } })));
});

test.each(runtimes)(
  "reads a resource of a bridged server only when the rules allow it ($name)",
  async (runtime) => {
    const harness = await startObedientHarness();
    const program = join(import.meta.dirname, "programs/mcp-resources.mjs");
    const servers = `  db: { command: node, args: ["${program}"] }`;
    const prompt = [
      toolCallPrompt(["ReadMcpResourceTool", { server: "db", uri: "db://secret" }]),
      toolCallPrompt(["mcp__db__query", {}]),
    ].join("\n\n");
    const run = async (agent: string) => {
      const { messages } = await executeBridged(runtime, harness, { servers, prompt, agent });
      expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "db", status: "connected" }]);
      expect(resultOf(messages)).toMatchObject({ is_error: false });
      return toolResultTexts(messages).join("\n");
    };
    const shut = await run("permission_mode: default\nallowed_tools: [mcp__db__query]");
    expect(shut).toContain("rows");
    expect(shut).not.toContain("canary-of-the-resource");
    const opened = await run(
      "permission_mode: default\nallowed_tools: [mcp__db__query, ReadMcpResourceTool]",
    );
    expect(opened).toContain("canary-of-the-resource");
  },
);
