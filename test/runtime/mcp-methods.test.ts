import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { Bridge } from "../../packages/core/src/runner/runtime/mcp/bridge.ts";
import { ToolRules } from "../../packages/core/src/runner/runtime/mcp/tool-rules.ts";
import { performBridged } from "../support/bridged.ts";
import {
  initOf,
  obedientStage,
  obey,
  resultOf,
  runtimes,
  toolResults,
} from "../support/runtime.ts";

type Rules = ConstructorParameters<typeof ToolRules>[0];

const closed: Rules = { permission_mode: "default", allowed_tools: [], denied_tools: [] };
const open = (allowed: string[], denied: string[] = []): Rules => ({
  ...{ permission_mode: "default", allowed_tools: allowed, denied_tools: denied },
});
const free: Rules = { ...closed, permission_mode: "bypassPermissions" };

/** A bridge to a server that answers every request and keeps what it was sent. */
function bridgeTo(rules: Rules, capabilities: object = {}) {
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
  const bridge = new Bridge(
    "db",
    { connect: async () => ours },
    {
      patience: 1_000,
      mayCall: (tool, input) => kept.allow("db", tool, input),
      permits: (access) => kept.permits("db", access),
      spawned: () => undefined,
      note: () => undefined,
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
const unknown = ["tasks/get", "tasks/list", "server/discover", "Resources/read", "", "toString"];
const guarded = [...resourceReads, ...resourceLists, ...wholeServer];

async function passing(rules: Rules): Promise<string[]> {
  const { bridge, methods } = bridgeTo(rules);
  for (const method of [...guarded, ...unknown]) await bridge.ask(request(method));
  return methods();
}

test.each<[string, Rules, string[]]>([
  ["no rules", closed, []],
  ["a tool of the server", open(["mcp__db__query", "mcp__db__q*"]), []],
  ["another server", open(["mcp__dbx", "mcp__d__*", "mcp__other__*"]), []],
  ["a tool that ends like any", open(["mcp__db__*_"]), []],
  ["ReadMcpResourceTool", open(["ReadMcpResourceTool"]), resourceReads],
  ["ListMcpResourcesTool", open(["ListMcpResourcesTool"]), resourceLists],
  ["both resource tools", open(["*McpResource*"]), [...resourceReads, ...resourceLists]],
  ["the server", open(["mcp__db"]), guarded],
  ["all tools of the server", open(["mcp__db__*"]), guarded],
  ["all servers", open(["mcp__*"]), guarded],
  [
    "the server, but no reading",
    open(["mcp__db"], ["ReadMcpResourceTool"]),
    [...resourceLists, ...wholeServer],
  ],
  ["all, and the server denied", open(["mcp__*", "ReadMcpResourceTool"], ["mcp__db__*"]), []],
  ["bypassPermissions", free, guarded],
  ["bypassPermissions, and the server denied", { ...free, denied_tools: ["mcp__db"] }, []],
])("with rules that allow %s these methods reach a bridged server", async (_, rules, expected) => {
  expect((await passing(rules)).toSorted()).toEqual(expected.toSorted());
});

test("a refused method is an error that names it", async () => {
  const { bridge } = bridgeTo(closed);
  expect(await bridge.ask(request("resources/read", { uri: "secret://all" }))).toMatchObject({
    error: { message: "MCP server `db`: `resources/read` is not permitted to this agent" },
  });
});

test("a server is not offered, and does not offer, what the rules leave out", async () => {
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
    const { bridge, seen } = bridgeTo(rules, all);
    const params = { capabilities: { sampling: {}, roots: {}, elicitation: {} } };
    const answer = await bridge.ask(request("initialize", params));
    expect(seen).toMatchObject([{ method: "initialize", params: { capabilities: {} } }]);
    expect(JSON.stringify(seen)).not.toContain("sampling");
    return "result" in answer ? Object.keys(answer.result.capabilities ?? {}) : [];
  };
  expect(await offered(closed)).toEqual(["tools"]);
  expect(await offered(open(["ReadMcpResourceTool"]))).toEqual(["tools", "resources"]);
  expect(await offered(free)).toEqual(["tools", "resources", "prompts", "logging", "completions"]);
});

test("only listed notifications reach the server", async () => {
  const { bridge, methods } = bridgeTo(free);
  for (const name of ["initialized", "progress", "roots/list_changed", "tasks/status", "made/up"]) {
    bridge.tell({ jsonrpc: "2.0", method: `notifications/${name}` });
  }
  await delay(50);
  expect(methods()).toEqual(["notifications/initialized", "notifications/progress"]);
});

test("of what a server asks or says, only what is listed reaches claude", async () => {
  const { bridge, say, answers } = bridgeTo(free);
  const heard: string[] = [];
  bridge.listen(({ method }) => void heard.push(method));
  await bridge.ask(request("ping"));
  const asks = ["ping", "sampling/createMessage", "roots/list", "elicitation/create", "made/up"];
  for (const [id, method] of asks.entries()) await say({ jsonrpc: "2.0", id, method });
  for (const method of ["notifications/progress", "notifications/elicitation/complete"]) {
    await say({ jsonrpc: "2.0", method });
  }
  await delay(50);
  expect(heard).toEqual(["ping", "notifications/progress"]);
  expect(answers).toMatchObject([1, 2, 3, 4].map((id) => ({ id, error: { code: -32601 } })));
});

test.each(runtimes)(
  "$name: a resource of a bridged server is read only if the rules say so",
  async (runtime) => {
    const on = await obedientStage();
    const program = join(import.meta.dirname, "programs/mcp-resources.mjs");
    const servers = `  db: { command: node, args: ["${program}"] }`;
    const prompt = [
      obey(["ReadMcpResourceTool", { server: "db", uri: "db://secret" }]),
      obey(["mcp__db__query", {}]),
    ].join("\n\n");
    const run = async (agent: string) => {
      const { messages } = await performBridged(runtime, on, { servers, prompt, agent });
      expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "db", status: "connected" }]);
      expect(resultOf(messages)).toMatchObject({ is_error: false });
      return toolResults(messages).join("\n");
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
