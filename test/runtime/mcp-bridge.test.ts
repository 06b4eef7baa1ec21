import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { performBridged, richServer } from "../support/bridged.ts";
import { httpMcpServer, sseMcpServer } from "../support/mcp-http.ts";
import { processList } from "../support/process-list.ts";
import { processesWith } from "../support/processes.ts";
import {
  finalText,
  initOf,
  obedientStage,
  obey,
  resultOf,
  runtimes,
  toolResults,
} from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

const rich = (env = "") => `  rich: { command: node, args: ["${richServer}"], env: { ${env} } }`;
const call = (tool: string, input: object = {}) => obey([`mcp__rich__${tool}`, input]);

describe.each(sliceOf(runtimes.toReversed(), 1))("$name", (runtime) => {
  test("calls go to servers with us, by process, HTTP and SSE, and results to the model", async () => {
    const on = await obedientStage();
    const [http, sse] = [await httpMcpServer(), await sseMcpServer()];
    const header = `header-${randomUUID()}`;
    const remote = (name: string, type: string, url: string) =>
      `  ${name}: { type: ${type}, url: "${url}", headers: { Authorization: "Bearer ${header}" } }`;
    const servers = [rich(), remote("quiet", "http", http.url), remote("old", "sse", sse.url)];
    const { messages } = await performBridged(runtime, on, {
      servers: servers.join("\n"),
      prompt: [
        call("ping"),
        obey(["mcp__quiet__whisper", { text: "HEY" }]),
        obey(["mcp__old__whisper", { text: "HO" }]),
      ].join("\n"),
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([
      { name: "rich", status: "connected" },
      { name: "quiet", status: "connected" },
      { name: "old", status: "connected" },
    ]);
    const told = JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
    expect(told).toContain("hey by http");
    expect(told).toContain("ho by sse");
    expect(told).toContain('"text":"{}"');
    for (const { headers } of [http, sse]) {
      expect(headers.every((one) => one.authorization === `Bearer ${header}`)).toBe(true);
    }
  });

  test("the secrets of a server are seen by nobody but the server", async () => {
    const on = await obedientStage();
    const secret = `secret-${randomUUID()}`;
    let processes = "";
    const { messages, notes, stderr, servers } = await performBridged(runtime, on, {
      servers: rich(`SECRET: ${secret}`),
      prompt: [
        obey(["Bash", { command: "env; cat ../home/private/*; cat /proc/$PPID/environ" }]),
        call("die"),
      ].join("\n\n"),
      onMessage: () => {
        processes += processList();
      },
    });
    expect(servers).toHaveLength(1);
    // The server knew it, and said it as it died.
    expect(notes).toContain("I die of ***");
    expect(processes).toContain(`node ${richServer}`);
    const shown = [JSON.stringify(messages), notes, stderr, processes];
    expect(shown.filter((text) => text.includes(secret))).toEqual([]);
    expect(toolResults(messages).join()).toContain("ANTHROPIC_BASE_URL");
  });

  test("a server has a clean environment, a place of the fleet's own, and the marker", async () => {
    const on = await obedientStage();
    const { messages, servers } = await performBridged(runtime, on, {
      servers: rich("OWN: mine"),
      agent: "env: { FROM_THE_AGENT: planted, PATH: /planted }",
      prompt: `${call("environment")}\n\n${call("place")}`,
    });
    const [said = "", place = ""] = toolResults(messages);
    const [{ text }] = JSON.parse(said);
    const env = JSON.parse(text);
    expect(env).toMatchObject({ OWN: "mine", HERDCTL_RUN: on.home, PATH: on.env.PATH });
    const foreign = Object.keys(env).filter((name) => /ANTHROPIC|CLAUDE|FROM_THE_AGENT/.test(name));
    expect(foreign).toEqual([]);
    expect(place).not.toContain(on.workspace);
    expect(servers).toHaveLength(1);
    expect(processesWith(`HERDCTL_RUN=${on.home}`)).toEqual([]);
  });

  test("permissions name the tools of a server as ever", async () => {
    const asked: string[] = [];
    const results = async (agent: string) => {
      const { messages } = await performBridged(runtime, await obedientStage(), {
        servers: rich(),
        agent,
        prompt: `${call("ping")}\n\n${call("place")}`,
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

  test("calls at the same time run at the same time", async () => {
    const on = await obedientStage();
    const diary = join(on.home, "diary");
    const { messages } = await performBridged(runtime, on, {
      servers: rich(`DIARY: "${diary}"`),
      prompt: obey(
        ...["a", "b", "c"].map((name): [string, object] => ["mcp__rich__wait", { name }]),
      ),
    });
    const [, ...lines] = readFileSync(diary, "utf8").trim().split("\n");
    expect(lines.slice(0, 3).sort()).toEqual(["begin a", "begin b", "begin c"]);
    expect(toolResults(messages).sort().join()).toMatch(/for a.*for b.*for c/);
  });

  test("progress and questions of a server go through; what claude does not offer is told so", async () => {
    const on = await obedientStage();
    const { messages } = await performBridged(runtime, on, {
      servers: rich(),
      prompt: `${call("steps")}\n\n${call("ping")}\n\n${call("roots")}`,
    });
    const [steps, ping, roots] = toolResults(messages);
    expect(steps).toContain("three steps");
    expect(ping).toContain('"{}"');
    expect(roots).toContain("-32601");
  });

  test("a server that gets a new tool tells claude of it", async () => {
    const on = await obedientStage();
    const { messages } = await performBridged(runtime, on, {
      servers: rich(),
      prompt: `${call("grow")}\n\n${call("wait", { name: "it" })}\n\n${call("grown")}`,
    });
    // The older one does not look again.
    const answer = { "325": "I am new", "197": "No such tool available" };
    expect(toolResults(messages)[2]).toContain(answer[runtime.version]);
  });

  test("a result of 5 MB breaks nothing", async () => {
    const on = await obedientStage();
    const { messages } = await performBridged(runtime, on, {
      servers: rich(),
      prompt: call("big"),
    });
    expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false });
    expect(toolResults(messages)).toHaveLength(1);
  });

  test("a run that is stopped cancels its call, and its server ends", async () => {
    const on = await obedientStage();
    const diary = join(on.home, "diary");
    const stopping = new AbortController();
    const read = () => readFileSync(diary, "utf8");
    const { exit } = await performBridged(runtime, on, {
      servers: rich(`DIARY: "${diary}"`),
      prompt: call("hang"),
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
    expect(processesWith(`HERDCTL_RUN=${on.home}`)).toEqual([]);
  });
});
