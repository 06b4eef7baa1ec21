import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { killRunProcesses } from "../../packages/core/src/process-tree/kill-processes.ts";
import {
  McpBridge,
  MessageRateLimiter,
  maskSecrets,
} from "../../packages/core/src/runner/runtimes/mcp/bridge.ts";
import { partitionServers } from "../../packages/core/src/runner/runtimes/mcp/bridged-server.ts";
import {
  buildServerEnvironment,
  createHostServers,
  isToolNamed,
  ToolRules,
} from "../../packages/core/src/runner/runtimes/mcp/bridges.ts";
import { StderrTail } from "../../packages/core/src/runner/runtimes/mcp/reconnecting-connection.ts";
import { writePrivateFiles } from "../../packages/core/src/runner/runtimes/private-files.ts";
import { agentOf, configProblems, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";
import { startHarness } from "../support/harness.ts";
import { executeBridged, richMcpServer } from "../support/mcp-bridge.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { sessionFileRuntimes } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const servers = `
working_directory: /srv/work
mcp_servers:
  default: { command: one, env: { KEY: key-of-default } }
  host: { command: two, run: host }
  inside: { command: three, run: container, env: { KEY: key-of-inside } }
  away: { type: http, url: "https://mcp.example.com" }
`;
const agent = (docker: boolean) =>
  agentOf(loadTestFleet(inlineAgent(`${servers}docker: { enabled: ${docker} }`)), "one");

describe("placement of MCP servers", () => {
  test("gives claude all servers on the host", () => {
    const { direct, bridged } = partitionServers(agent(false));
    expect(Object.keys(direct)).toEqual(["default", "host", "inside", "away"]);
    expect(bridged).toEqual({});
  });

  test("keeps servers of a container outside unless they are configured inside", () => {
    const { direct, bridged } = partitionServers(agent(true));
    expect(Object.keys(direct)).toEqual(["inside"]);
    expect(Object.keys(bridged)).toEqual(["default", "host", "away"]);
  });

  test("writes secrets of claude's own servers to its file and only the names of the others", async () => {
    const privateDir = tempFolderWith({});
    const bridgedServers = createHostServers(agent(true), {}, {});
    const written = async (announcedServers: string[]) => {
      const options = { agent: agent(true), privateDir, bridgedServers };
      const { mcpConfig = "" } = writePrivateFiles(options, { settings: {}, announcedServers });
      return JSON.parse(readFileSync(mcpConfig, "utf8"));
    };
    const inside = { command: "three", args: [], env: { KEY: "key-of-inside" } };
    expect(await written([])).toEqual({ mcpServers: { inside } });
    expect(await written(["default"])).toEqual({
      mcpServers: { inside, default: { type: "sdk", name: "default" } },
    });
  });

  test("refuses bridged servers for the session-file runtime", async () => {
    const [runtime] = sessionFileRuntimes;
    if (!runtime) throw new Error("the runtime is missing");
    const running = executeBridged(runtime, await startHarness(), {
      servers: "  rich: { command: x }",
    });
    await expect(running).rejects.toMatchObject({
      message: expect.stringContaining("`rich`"),
      hint: expect.stringContaining("stream: stdout"),
    });
  });

  test("refuses bridged servers in the configuration of a session file", () => {
    const session = "runtime: { type: cli, stream: session-file }\npermission_mode: acceptEdits\n";
    const [problem, ...others] = configProblems(
      inlineAgent(`${session}${servers}docker: { enabled: true }`),
    );
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: "runtime.stream" });
    expect(problem?.message).toContain("`default`, `host`, `away`");
    expect(loadTestFleet(inlineAgent(`${session}${servers}`)).fleet.agents).toHaveLength(1);
  });
});

test.each([
  [["mcp__git.hub__drop"], false],
  [["mcp__git_hub__drop"], true],
  [["mcp__git_hub"], true],
  [["mcp__git_hub__*"], true],
  [["mcp__*"], true],
  [["Bash", "mcp__git_hub__d*"], true],
  [["mcp__git", "mcp__git_hub__dro", "mcp__git_hub__drop(x)"], false],
  [[], false],
])("matches the rules %j with the tool `drop` of `git.hub`: %s", (rules, named) => {
  expect(isToolNamed(rules, "git.hub", "drop")).toBe(named);
});

test("allows a call by rule, by mode or once by a person, and never when it is denied", async () => {
  const rules = { permission_mode: "default" as const, allowed_tools: ["mcp__x__a"] };
  const kept = new ToolRules({ ...rules, denied_tools: ["mcp__x__d"] });
  expect(["a", "b", "d"].map((tool) => kept.canCall("x", tool))).toEqual([true, false, false]);
  const ask = kept.rememberApprovals(async () => ({ behavior: "allow", updatedInput: { n: 1 } }));
  for (const tool of ["mcp__x__b", "mcp__x__d"]) {
    await ask?.({ tool, toolUseId: "1", input: { n: 0 } }, new AbortController().signal);
  }
  expect(kept.canCall("x", "b", { n: 0 })).toBe(false);
  expect(kept.canCall("y", "b", { n: 1 })).toBe(false);
  expect(kept.canCall("x", "b", { n: 1 })).toBe(true);
  expect(kept.canCall("x", "b", { n: 1 })).toBe(false);
  expect(kept.canCall("x", "d", { n: 1 })).toBe(false);
  const free = new ToolRules({
    permission_mode: "bypassPermissions",
    allowed_tools: [],
    denied_tools: ["mcp__x"],
  });
  expect([free.canCall("y", "b"), free.canCall("x", "b")]).toEqual([true, false]);
});

test("applies the fleet file's rules to host servers where a limited agent file has other rules", () => {
  const rules = new ToolRules({
    permission_mode: "bypassPermissions",
    allowed_tools: ["*"],
    denied_tools: ["mcp__x__d"],
    host_tools: { permission_mode: "default", allowed_tools: ["mcp__x__*"] },
  });
  expect(rules.canCall("x", "a")).toBe(true);
  expect(rules.canCall("x", "d")).toBe(false);
  expect(rules.canCall("y", "a")).toBe(false);
});

test("passes a short list, the server's own variables and the run's markers, in this order", () => {
  const fleet = {
    PATH: "/bin",
    LC_ALL: "C",
    ANTHROPIC_API_KEY: "k",
    CLAUDE_CODE_X: "1",
    OTHER: "1",
  };
  const own = { PATH: "/own", TOKEN: "t", HERDCTL_RUN: "forged" };
  const run = { HERDCTL_RUN: "run", HERDCTL_JOB: "job", PATH: "/planted", FROM_AGENT: "1" };
  expect(buildServerEnvironment(fleet, own, run)).toEqual({
    PATH: "/own",
    LC_ALL: "C",
    TOKEN: "t",
    HERDCTL_RUN: "run",
    HERDCTL_JOB: "job",
  });
});

test("finds and ends the server of a dead runner by its marker", async () => {
  const token = `test-${process.pid}-mcp`;
  const yaml = `docker: { enabled: true }\nworking_directory: /srv/work\nmcp_servers: { rich: { command: node, args: ["${richMcpServer}"], env: { STAYS: "1" } } }`;
  const one = agentOf(loadTestFleet(inlineAgent(yaml)), "one");
  const { rich } = createHostServers(one, process.env, { HERDCTL_RUN: token });
  const transport = await rich?.connect({ onSpawned: () => undefined, onStderr: () => undefined });
  await transport?.start();
  expect(processesWithMarker(`HERDCTL_RUN=${token}`)).toHaveLength(1);
  expect(await killRunProcesses(token)).toMatchObject({ survivors: [] });
  expect(processesWithMarker(`HERDCTL_RUN=${token}`)).toEqual([]);
  await transport?.close();
});

test("masks secrets, longer ones first, and skips short words", () => {
  const secrets = ["Bearer abcdefgh", "abcdefgh-more", "true"];
  expect(maskSecrets("abcdefgh-more, abcdefgh, Bearer abcdefgh, true", secrets)).toBe(
    "***, ***, ***, true",
  );
});

test("keeps the last lines whole, however long the output is", () => {
  const lines = new StderrTail();
  lines.add(`${"begin ".repeat(2_000)}SECRET`);
  lines.add("-HALF\nlast but one\nla");
  lines.add("st\n");
  expect(lines.take()).toEqual(["last but one", "last"]);
  expect(lines.take()).toEqual([]);
});

test("limits unsolicited messages of a server per second and by size", () => {
  const guard = new MessageRateLimiter();
  const word = (data: string) => ({
    jsonrpc: "2.0" as const,
    method: "notifications/message",
    params: { data },
  });
  const passed = (now: number) =>
    Array.from({ length: 500 }, () => guard.tryAccept(word("x"), now)).filter(Boolean).length;
  expect([passed(0), passed(999), passed(1_000)]).toEqual([100, 0, 100]);
  expect(guard.tryAccept(word("x".repeat(100_000)), 2_000)).toBe(false);
  expect(guard.dropped).toBe(1_301);
});

describe("MCP bridge", () => {
  /** A bridge whose server is this test. */
  function bridged() {
    const received: JSONRPCMessage[] = [];
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    theirs.onmessage = (message) => void received.push(message);
    const mayCall = (tool: string) => tool !== "forbidden";
    const permits = (access: string) => access === "always";
    const silent = { onSpawned: () => undefined, logNote: () => undefined };
    const options = { timeoutMs: 200, canCall: mayCall, canAccess: permits, ...silent };
    const bridge = new McpBridge("x", { connect: async () => ours }, options);
    const say = (message: JSONRPCMessage) => theirs.send(message);
    const ids = () => received.flatMap((message) => ("id" in message ? [message.id] : []));
    return { bridge, received, say, ids };
  }
  const ask = (id: number, method: string): JSONRPCRequest => ({ jsonrpc: "2.0", id, method });

  test("keeps requests with the same number apart", async () => {
    const { bridge, say, ids, received } = bridged();
    bridge.open();
    const answers = [
      bridge.sendRequest(ask(1, "tools/call")),
      bridge.sendRequest(ask(1, "tools/call")),
    ];
    await delay(20);
    const [first = "", second = ""] = ids();
    await say({ jsonrpc: "2.0", id: second ?? "", result: { of: "second" } });
    await say({ jsonrpc: "2.0", id: first ?? "", result: { of: "first" } });
    expect(await Promise.all(answers)).toMatchObject([
      { id: 1, result: { of: "first" } },
      { id: 1, result: { of: "second" } },
    ]);
    expect(received).toHaveLength(2);
    await bridge.close();
  });

  test("refuses a call for a forbidden tool from any source", async () => {
    const { bridge, received } = bridged();
    bridge.open();
    const request = { ...ask(1, "tools/call"), params: { name: "forbidden" } };
    expect(await bridge.sendRequest(request)).toMatchObject({
      error: { message: "MCP server `x`: `forbidden` is not permitted for this agent" },
    });
    expect(received).toEqual([]);
    await bridge.close();
  });

  test("initializes a server once, however often claude does", async () => {
    const { bridge, say, received, ids } = bridged();
    const greetings = [
      bridge.sendRequest(ask(0, "initialize")),
      bridge.sendRequest(ask(7, "initialize")),
    ];
    await delay(20);
    await say({ jsonrpc: "2.0", id: ids()[0] ?? "", result: { protocolVersion: "2025-11-25" } });
    expect(await Promise.all(greetings)).toMatchObject([{ id: 0 }, { id: 7 }]);
    for (let times = 0; times < 2; times += 1) {
      bridge.notify({ jsonrpc: "2.0", method: "notifications/initialized" });
    }
    await delay(20);
    expect(received).toHaveLength(2);
    await bridge.close();
  });

  test("answers for an unresponsive server but lets a call take its time", async () => {
    const { bridge } = bridged();
    bridge.open();
    const call = bridge.sendRequest(ask(1, "tools/call"));
    expect(await bridge.sendRequest(ask(2, "tools/list"))).toMatchObject({
      id: 2,
      error: { message: "MCP server `x`: it did not answer within 0.2 s" },
    });
    const soon = delay(200).then(() => "still waiting");
    expect(await Promise.race([call, soon])).toBe("still waiting");
    await bridge.close();
    expect(await call).toMatchObject({ error: { message: "MCP server `x`: the run is over" } });
  });
});
