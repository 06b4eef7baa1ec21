import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { executeBridged, richMcpServer } from "../support/mcp-bridge.ts";
import { httpMcpServer, sseMcpServer } from "../support/mcp-http-servers.ts";
import { listProcesses } from "../support/process-list.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import {
  finalText,
  initOf,
  resultOf,
  runtimes,
  startObedientHarness,
  toolCallPrompt,
  toolResultTexts,
} from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const richServerYaml = (env = "") =>
  `  rich: { command: node, args: ["${richMcpServer}"], env: { ${env} } }`;
const callTool = (tool: string, input: object = {}) =>
  toolCallPrompt([`mcp__rich__${tool}`, input]);

describe.each(testSubset(runtimes.toReversed(), 1))("$name", (runtime) => {
  test("passes calls to servers outside by process, HTTP and SSE, and results to the model", async () => {
    const harness = await startObedientHarness();
    const [http, sse] = [await httpMcpServer(), await sseMcpServer()];
    const header = `header-${randomUUID()}`;
    const remote = (name: string, type: string, url: string) =>
      `  ${name}: { type: ${type}, url: "${url}", headers: { Authorization: "Bearer ${header}" } }`;
    const servers = [
      richServerYaml(),
      remote("quiet", "http", http.url),
      remote("old", "sse", sse.url),
    ];
    const { messages } = await executeBridged(runtime, harness, {
      servers: servers.join("\n"),
      prompt: [
        callTool("ping"),
        toolCallPrompt(["mcp__quiet__whisper", { text: "HEY" }]),
        toolCallPrompt(["mcp__old__whisper", { text: "HO" }]),
      ].join("\n"),
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([
      { name: "rich", status: "connected" },
      { name: "quiet", status: "connected" },
      { name: "old", status: "connected" },
    ]);
    const request = JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
    expect(request).toContain("hey by http");
    expect(request).toContain("ho by sse");
    expect(request).toContain('"text":"{}"');
    for (const { headers } of [http, sse]) {
      expect(headers.every((one) => one.authorization === `Bearer ${header}`)).toBe(true);
    }
  });

  test("shows the secrets of a server only to that server", async () => {
    const harness = await startObedientHarness();
    const secret = `secret-${randomUUID()}`;
    let processes = "";
    const { messages, notes, stderr, servers } = await executeBridged(runtime, harness, {
      servers: richServerYaml(`SECRET: ${secret}`),
      prompt: [
        toolCallPrompt([
          "Bash",
          { command: "env; cat ../home/private/*; cat /proc/$PPID/environ" },
        ]),
        callTool("die"),
      ].join("\n\n"),
      onMessage: () => {
        processes += listProcesses();
      },
    });
    expect(servers).toHaveLength(1);
    // The server received the secret and printed it when it died.
    expect(notes).toContain("I die of ***");
    expect(processes).toContain(`node ${richMcpServer}`);
    const shown = [JSON.stringify(messages), notes, stderr, processes];
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
    expect(toolResultTexts(messages).join()).toContain("ANTHROPIC_BASE_URL");
  });

  test("starts a server with a clean environment, the fleet's folder and the run's marker", async () => {
    const harness = await startObedientHarness();
    const { messages, servers } = await executeBridged(runtime, harness, {
      servers: richServerYaml("OWN: mine"),
      agent: "env: { FROM_THE_AGENT: planted, PATH: /planted }",
      prompt: `${callTool("environment")}\n\n${callTool("place")}`,
    });
    const [errorOutput = "", place = ""] = toolResultTexts(messages);
    const [{ text }] = JSON.parse(errorOutput);
    const env = JSON.parse(text);
    expect(env).toMatchObject({ OWN: "mine", HERDCTL_RUN: harness.home, PATH: harness.env.PATH });
    const foreign = Object.keys(env).filter((name) => /ANTHROPIC|CLAUDE|FROM_THE_AGENT/.test(name));
    expect(foreign).toEqual([]);
    expect(place).not.toContain(harness.workspace);
    expect(servers).toHaveLength(1);
    expect(processesWithMarker(`HERDCTL_RUN=${harness.home}`)).toEqual([]);
  });

  test("applies permissions by the names of a server's tools", async () => {
    const asked: string[] = [];
    const results = async (agent: string) => {
      const { messages } = await executeBridged(runtime, await startObedientHarness(), {
        servers: richServerYaml(),
        agent,
        prompt: `${callTool("ping")}\n\n${callTool("place")}`,
        options: agent.includes("default")
          ? {
              onPermission: async ({ tool, input }) => {
                asked.push(tool);
                return agent.includes("mcp__rich__ping")
                  ? { behavior: "deny", message: "No." }
                  : { behavior: "allow", updatedInput: input };
              },
            }
          : {},
      });
      const denied = resultOf(messages)?.permission_denials.map(({ tool_name }) => tool_name);
      return { denied, ping: finalText(messages).includes("mcp__rich__ping: {}") };
    };
    expect(await results("permission_mode: dontAsk\nallowed_tools: [mcp__rich__ping]")).toEqual({
      ping: true,
      denied: ["mcp__rich__place"],
    });
    expect(await results("permission_mode: dontAsk\nallowed_tools: [mcp__rich__*]")).toEqual({
      ping: true,
      denied: [],
    });
    expect((await results("denied_tools: [mcp__rich__ping]")).ping).toBe(false);
    await results("permission_mode: default\nallowed_tools: [mcp__rich__ping]");
    expect(asked.splice(0)).toEqual(["mcp__rich__place"]);
    expect(await results("permission_mode: default")).toEqual({ ping: true, denied: [] });
    expect(asked).toEqual(["mcp__rich__ping", "mcp__rich__place"]);
  });

  test("runs concurrent calls concurrently", async () => {
    const harness = await startObedientHarness();
    const diary = join(harness.home, "diary");
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml(`DIARY: "${diary}"`),
      prompt: toolCallPrompt(
        ...["a", "b", "c"].map((name): [string, object] => ["mcp__rich__wait", { name }]),
      ),
    });
    const [, ...lines] = readFileSync(diary, "utf8").trim().split("\n");
    expect(lines.slice(0, 3).sort()).toEqual(["begin a", "begin b", "begin c"]);
    expect(toolResultTexts(messages).sort().join()).toMatch(/for a.*for b.*for c/);
  });

  test("forwards progress and questions of a server, and refuses what claude does not offer", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml(),
      prompt: `${callTool("steps")}\n\n${callTool("ping")}\n\n${callTool("roots")}`,
    });
    const [steps, ping, roots] = toolResultTexts(messages);
    expect(steps).toContain("three steps");
    expect(ping).toContain('"{}"');
    expect(roots).toContain("-32601");
  });

  test("announces a new tool of a server to claude", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml(),
      prompt: `${callTool("grow")}\n\n${callTool("wait", { name: "it" })}\n\n${callTool("grown")}`,
    });
    // The older one does not list tools again.
    const answer = { "325": "I am new", "197": "No such tool available" };
    expect(toolResultTexts(messages)[2]).toContain(answer[runtime.version]);
  });

  test("passes a result of 5 MB", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml(),
      prompt: callTool("big"),
    });
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
    expect(toolResultTexts(messages)).toHaveLength(1);
  });

  test("cancels the call of a stopped run and ends its server", async () => {
    const harness = await startObedientHarness();
    const diary = join(harness.home, "diary");
    const stopping = new AbortController();
    const read = () => readFileSync(diary, "utf8");
    const { exit } = await executeBridged(runtime, harness, {
      servers: richServerYaml(`DIARY: "${diary}"`),
      prompt: callTool("hang"),
      options: { signal: stopping.signal },
      onMessage: (message) => {
        if (message.type !== "assistant") return;
        const waiting = setInterval(() => {
          if (!read().includes("hanging")) return;
          clearInterval(waiting);
          stopping.abort();
        }, 20);
      },
    });
    expect(exit).toBeDefined();
    expect(read()).toContain("cancelled");
    expect(processesWithMarker(`HERDCTL_RUN=${harness.home}`)).toEqual([]);
  });
});
