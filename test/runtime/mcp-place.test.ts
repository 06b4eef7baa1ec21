import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { JSONRPCMessage, JSONRPCRequest } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test } from "vitest";
import { Bridge } from "../../packages/core/src/runner/runtime/mcp/bridge.ts";
import { FloodGuard } from "../../packages/core/src/runner/runtime/mcp/flood-guard.ts";
import { hideSecrets } from "../../packages/core/src/runner/runtime/mcp/hide-secrets.ts";
import { hostServers } from "../../packages/core/src/runner/runtime/mcp/host-servers.ts";
import { LastLines } from "../../packages/core/src/runner/runtime/mcp/last-lines.ts";
import { placeServers } from "../../packages/core/src/runner/runtime/mcp/place-servers.ts";
import { serverEnvironment } from "../../packages/core/src/runner/runtime/mcp/server-environment.ts";
import { isNamed, ToolRules } from "../../packages/core/src/runner/runtime/mcp/tool-rules.ts";
import { writePrivateFiles } from "../../packages/core/src/runner/runtime/private-files.ts";
import { sweepRun } from "../../packages/core/src/runner/sweep/sweep-run.ts";
import { performBridged, richServer } from "../support/bridged.ts";
import { agentOf, inlineAgent, load, problemsOf } from "../support/fleet.ts";
import { folderWith } from "../support/folder.ts";
import { processesWith } from "../support/processes.ts";
import { sessionFileRuntimes } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const servers = `
working_directory: /srv/work
mcp_servers:
  default: { command: one, env: { KEY: key-of-default } }
  host: { command: two, run: host }
  inside: { command: three, run: container, env: { KEY: key-of-inside } }
  away: { type: http, url: "https://mcp.example.com" }
`;
const agent = (docker: boolean) =>
  agentOf(load(inlineAgent(`${servers}docker: { enabled: ${docker} }`)), "one");

describe("where the servers of an agent are", () => {
  test("on the host claude has them all", () => {
    const { given, bridged } = placeServers(agent(false));
    expect(Object.keys(given)).toEqual(["default", "host", "inside", "away"]);
    expect(bridged).toEqual({});
  });

  test("in Docker they stay outside, unless they are to be inside", () => {
    const { given, bridged } = placeServers(agent(true));
    expect(Object.keys(given)).toEqual(["inside"]);
    expect(Object.keys(bridged)).toEqual(["default", "host", "away"]);
  });

  test("the file for claude holds the secrets of those that are its own, and names the others", async () => {
    const privateDir = folderWith({});
    const bridgedServers = hostServers(agent(true), {}, {});
    const written = async (announced: string[]) => {
      const options = { agent: agent(true), privateDir, bridgedServers };
      const { mcpConfig = "" } = writePrivateFiles(options, announced);
      return JSON.parse(readFileSync(mcpConfig, "utf8"));
    };
    const inside = { command: "three", args: [], env: { KEY: "key-of-inside" } };
    expect(await written([])).toEqual({ mcpServers: { inside } });
    expect(await written(["default"])).toEqual({
      mcpServers: { inside, default: { type: "sdk", name: "default" } },
    });
  });

  test("the session file has no way to them, and says so", async () => {
    const [runtime] = sessionFileRuntimes;
    if (!runtime) throw new Error("the runtime is missing");
    const running = performBridged(runtime, await stage(), { servers: "  rich: { command: x }" });
    await expect(running).rejects.toMatchObject({
      message: expect.stringContaining("`rich`"),
      hint: expect.stringContaining("stream: stdout"),
    });
  });

  test("the configuration refuses them beside a session file", () => {
    const session = "runtime: { type: cli, stream: session-file }\npermission_mode: acceptEdits\n";
    const [problem, ...others] = problemsOf(
      inlineAgent(`${session}${servers}docker: { enabled: true }`),
    );
    expect(others).toEqual([]);
    expect(problem).toMatchObject({ path: "runtime.stream" });
    expect(problem?.message).toContain("`default`, `host`, `away`");
    expect(load(inlineAgent(`${session}${servers}`)).fleet.agents).toHaveLength(1);
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
])("rules %j speak of the tool `drop` of `git.hub`: %s", (rules, named) => {
  expect(isNamed(rules, "git.hub", "drop")).toBe(named);
});

test("a call passes by rule, by mode, or once by a person's word; never when it is denied", async () => {
  const rules = { permission_mode: "default" as const, allowed_tools: ["mcp__x__a"] };
  const kept = new ToolRules({ ...rules, denied_tools: ["mcp__x__d"] });
  expect(["a", "b", "d"].map((tool) => kept.allow("x", tool))).toEqual([true, false, false]);
  const ask = kept.remembering(async () => ({ behavior: "allow", updatedInput: { n: 1 } }));
  for (const tool of ["mcp__x__b", "mcp__x__d"]) {
    await ask?.({ tool, toolUseId: "1", input: { n: 0 } }, new AbortController().signal);
  }
  expect(kept.allow("x", "b", { n: 0 })).toBe(false);
  expect(kept.allow("y", "b", { n: 1 })).toBe(false);
  expect(kept.allow("x", "b", { n: 1 })).toBe(true);
  expect(kept.allow("x", "b", { n: 1 })).toBe(false);
  expect(kept.allow("x", "d", { n: 1 })).toBe(false);
  const free = new ToolRules({
    permission_mode: "bypassPermissions",
    allowed_tools: [],
    denied_tools: ["mcp__x"],
  });
  expect([free.allow("y", "b"), free.allow("x", "b")]).toEqual([true, false]);
});

test("where a limited agent file has rules of its own, those of host servers are those of the fleet file", () => {
  const rules = new ToolRules({
    permission_mode: "bypassPermissions",
    allowed_tools: ["*"],
    denied_tools: ["mcp__x__d"],
    host_tools: { permission_mode: "default", allowed_tools: ["mcp__x__*"] },
  });
  expect(rules.allow("x", "a")).toBe(true);
  expect(rules.allow("x", "d")).toBe(false);
  expect(rules.allow("y", "a")).toBe(false);
});

test("a server gets a short list, its own and the signs of the run, in this order", () => {
  const fleet = {
    PATH: "/bin",
    LC_ALL: "C",
    ANTHROPIC_API_KEY: "k",
    CLAUDE_CODE_X: "1",
    OTHER: "1",
  };
  const own = { PATH: "/own", TOKEN: "t", HERDCTL_RUN: "forged" };
  const run = { HERDCTL_RUN: "run", HERDCTL_JOB: "job", PATH: "/planted", FROM_AGENT: "1" };
  expect(serverEnvironment(fleet, own, run)).toEqual({
    PATH: "/own",
    LC_ALL: "C",
    TOKEN: "t",
    HERDCTL_RUN: "run",
    HERDCTL_JOB: "job",
  });
});

test("a server whose runner died is found and ended by the marker", async () => {
  const token = `test-${process.pid}-mcp`;
  const yaml = `docker: { enabled: true }\nworking_directory: /srv/work\nmcp_servers: { rich: { command: node, args: ["${richServer}"], env: { STAYS: "1" } } }`;
  const one = agentOf(load(inlineAgent(yaml)), "one");
  const { rich } = hostServers(one, process.env, { HERDCTL_RUN: token });
  const transport = await rich?.connect({ spawned: () => undefined, stderr: () => undefined });
  await transport?.start();
  expect(processesWith(`HERDCTL_RUN=${token}`)).toHaveLength(1);
  expect(await sweepRun(token)).toMatchObject({ left: [] });
  expect(processesWith(`HERDCTL_RUN=${token}`)).toEqual([]);
  await transport?.close();
});

test("secrets are starred, the longer first; short words are none", () => {
  const secrets = ["Bearer abcdefgh", "abcdefgh-more", "true"];
  expect(hideSecrets("abcdefgh-more, abcdefgh, Bearer abcdefgh, true", secrets)).toBe(
    "***, ***, ***, true",
  );
});

test("the last lines are whole, however long the talk was", () => {
  const lines = new LastLines();
  lines.add(`${"begin ".repeat(2_000)}SECRET`);
  lines.add("-HALF\nlast but one\nla");
  lines.add("st\n");
  expect(lines.take()).toEqual(["last but one", "last"]);
  expect(lines.take()).toEqual([]);
});

test("of what a server says unasked, so much passes in a second and no giant", () => {
  const guard = new FloodGuard();
  const word = (data: string) => ({
    jsonrpc: "2.0" as const,
    method: "notifications/message",
    params: { data },
  });
  const passed = (now: number) =>
    Array.from({ length: 500 }, () => guard.passes(word("x"), now)).filter(Boolean).length;
  expect([passed(0), passed(999), passed(1_000)]).toEqual([100, 0, 100]);
  expect(guard.passes(word("x".repeat(100_000)), 2_000)).toBe(false);
  expect(guard.dropped).toBe(1_301);
});

describe("a bridge", () => {
  /** A bridge to a server that is this test. */
  function bridged() {
    const heard: JSONRPCMessage[] = [];
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    theirs.onmessage = (message) => void heard.push(message);
    const mayCall = (tool: string) => tool !== "forbidden";
    const permits = (access: string) => access === "always";
    const silent = { spawned: () => undefined, note: () => undefined };
    const options = { patience: 200, mayCall, permits, ...silent };
    const bridge = new Bridge("x", { connect: async () => ours }, options);
    const say = (message: JSONRPCMessage) => theirs.send(message);
    const ids = () => heard.flatMap((message) => ("id" in message ? [message.id] : []));
    return { bridge, heard, say, ids };
  }
  const ask = (id: number, method: string): JSONRPCRequest => ({ jsonrpc: "2.0", id, method });

  test("keeps requests with the same number apart", async () => {
    const { bridge, say, ids, heard } = bridged();
    bridge.open();
    const answers = [bridge.ask(ask(1, "tools/call")), bridge.ask(ask(1, "tools/call"))];
    await delay(20);
    const [first = "", second = ""] = ids();
    await say({ jsonrpc: "2.0", id: second ?? "", result: { of: "second" } });
    await say({ jsonrpc: "2.0", id: first ?? "", result: { of: "first" } });
    expect(await Promise.all(answers)).toMatchObject([
      { id: 1, result: { of: "first" } },
      { id: 1, result: { of: "second" } },
    ]);
    expect(heard).toHaveLength(2);
    await bridge.close();
  });

  test("lets no call for a forbidden tool through, whoever asks for it", async () => {
    const { bridge, heard } = bridged();
    bridge.open();
    const request = { ...ask(1, "tools/call"), params: { name: "forbidden" } };
    expect(await bridge.ask(request)).toMatchObject({
      error: { message: "MCP server `x`: `forbidden` is not permitted to this agent" },
    });
    expect(heard).toEqual([]);
    await bridge.close();
  });

  test("greets a server once, however often claude does", async () => {
    const { bridge, say, heard, ids } = bridged();
    const greetings = [bridge.ask(ask(0, "initialize")), bridge.ask(ask(7, "initialize"))];
    await delay(20);
    await say({ jsonrpc: "2.0", id: ids()[0] ?? "", result: { protocolVersion: "2025-11-25" } });
    expect(await Promise.all(greetings)).toMatchObject([{ id: 0 }, { id: 7 }]);
    for (let times = 0; times < 2; times += 1) {
      bridge.tell({ jsonrpc: "2.0", method: "notifications/initialized" });
    }
    await delay(20);
    expect(heard).toHaveLength(2);
    await bridge.close();
  });

  test("answers for a server that does not, but lets a call take its time", async () => {
    const { bridge } = bridged();
    bridge.open();
    const call = bridge.ask(ask(1, "tools/call"));
    expect(await bridge.ask(ask(2, "tools/list"))).toMatchObject({
      id: 2,
      error: { message: "MCP server `x`: it did not answer within 0.2 s" },
    });
    const soon = delay(200).then(() => "still waiting");
    expect(await Promise.race([call, soon])).toBe("still waiting");
    await bridge.close();
    expect(await call).toMatchObject({ error: { message: "MCP server `x`: the run is over" } });
  });
});
