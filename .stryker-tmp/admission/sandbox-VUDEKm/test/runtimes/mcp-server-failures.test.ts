import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { executeBridged, richMcpServer } from "../support/mcp-bridge.ts";
import {
  brokenMcpServer,
  sessionLosingMcpServer,
  sseMcpServer,
} from "../support/mcp-http-servers.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import {
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
const callTool = (tool: string) => toolCallPrompt([`mcp__rich__${tool}`, {}]);
const success = { subtype: "success", is_error: false };

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe.each(testSubset(runtimes.toReversed(), 1))("$name", (runtime) => {
  test("reports the crash of a server during a call and restarts it for the next", async () => {
    const harness = await startObedientHarness();
    const { messages, notes, servers } = await executeBridged(runtime, harness, {
      servers: richServerYaml(),
      prompt: `${callTool("die")}\n\n${callTool("ping")}`,
    });
    const [died, ping] = toolResultTexts(messages);
    expect(died).toContain("MCP server `rich`: it ended");
    expect(ping).toContain('"{}"');
    expect(servers).toHaveLength(2);
    expect(notes).toBe("MCP server `rich`: it ended\n  I die of nothing\n");
    expect(resultOf(messages)).toMatchObject(success);
  });

  test("reports a server that cannot be started as failed, with the reason in the log", async () => {
    const harness = await startObedientHarness();
    const refusal = `process.stdin.once("data", (line) => {
      const error = { code: -1, message: "not today" };
      console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, error }));
    })`;
    const program = (text: string) => `{ command: node, args: [-e, ${JSON.stringify(text)}] }`;
    const { messages, notes } = await executeBridged(runtime, harness, {
      servers: `  rich: { command: /nowhere/server }
  short: ${program("console.error(42)")}
  grumpy: ${program(refusal)}`,
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([
      { name: "rich", status: "failed" },
      { name: "short", status: "failed" },
      { name: "grumpy", status: "failed" },
    ]);
    expect(notes).toContain("`grumpy`: it could not be started: not today\n");
    expect(notes).toContain("`rich`: it could not be started: spawn /nowhere/server ENOENT\n");
    expect(notes).toContain("`short`: it could not be started: it ended\n  42\n");
    expect(resultOf(messages)).toMatchObject(success);
  });

  test("gives up on a server that hangs at start and continues the run", async () => {
    const harness = await startObedientHarness();
    const { messages, notes } = await executeBridged(runtime, harness, {
      servers: richServerYaml("SLOW_START: 600000"),
      env: { MCP_TIMEOUT: "1500" },
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "rich", status: "failed" }]);
    expect(notes).toContain("it did not answer within 1.5 s");
    expect(resultOf(messages)).toMatchObject(success);
    expect(processesWithMarker(`HERDCTL_RUN=${harness.home}`)).toEqual([]);
  });

  test("waits for a slow server", async () => {
    const harness = await startObedientHarness();
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml("SLOW_START: 2000"),
      prompt: callTool("ping"),
    });
    expect(toolResultTexts(messages).join()).toContain('"{}"');
  });

  test("asks a running server to end before killing it", async () => {
    const harness = await startObedientHarness();
    const diary = join(harness.home, "diary");
    const { messages } = await executeBridged(runtime, harness, {
      servers: richServerYaml(`STAYS: "1", DIARY: "${diary}"`),
      prompt: callTool("ping"),
    });
    expect(resultOf(messages)).toMatchObject(success);
    expect(readFileSync(diary, "utf8")).toContain("SIGTERM");
    expect(processesWithMarker(`HERDCTL_RUN=${harness.home}`)).toEqual([]);
  });

  test("continues through floods, garbage and an endless message of a server", async () => {
    const harness = await startObedientHarness();
    const calls = ["flood", "garbage", "endless", "place"].map(callTool);
    const { messages, notes } = await executeBridged(runtime, harness, {
      servers: richServerYaml(),
      prompt: calls.join("\n\n"),
    });
    const [flood, garbage, endless, place] = toolResultTexts(messages);
    expect(flood).toContain("flooded");
    expect(garbage).toContain("after the garbage");
    expect(endless).toContain("it ended (ReadBuffer exceeded maximum size");
    expect(place).toContain("herdctl-");
    expect(notes).toMatch(/\d{5} unsolicited messages were dropped/);
    expect(resultOf(messages)).toMatchObject(success);
  });

  test("reconnects to a remote server for the next call", async () => {
    const harness = await startObedientHarness();
    const [http, sse] = [await sessionLosingMcpServer(), await sseMcpServer()];
    const say = (server: string, text: string) =>
      toolCallPrompt([`mcp__${server}__whisper`, { text }]);
    const { messages } = await executeBridged(runtime, harness, {
      servers: `  http: { type: http, url: "${http.url}" }\n  sse: { type: sse, url: "${sse.url}" }`,
      prompt: [
        ...[say("http", "FORGET"), say("http", "LOST"), say("http", "FOUND")],
        ...[say("sse", "CUT"), say("sse", "FOUND")],
      ].join("\n\n"),
    });
    const [forget, lost, found, cut, again] = toolResultTexts(messages);
    expect(forget).toContain("forget by http");
    expect(lost).toContain("MCP server `http`");
    expect(found).toContain("found by http");
    expect(cut).toContain("MCP server `sse`: it ended");
    expect(again).toContain("found by sse");
  });

  test("reports an unreachable remote server as failed, with the reason in the log", async () => {
    const harness = await startObedientHarness();
    const { messages, notes } = await executeBridged(runtime, harness, {
      servers: `  http: { type: http, url: "http://127.0.0.1:${await closedPort()}/mcp" }`,
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "http", status: "failed" }]);
    expect(notes).toContain("it could not be started: fetch failed: ECONNREFUSED");
  });

  test("reports an HTTP call whose answer breaks off, is refused, is invalid or never ends", async () => {
    const errors: string[] = [];
    const answers = [
      { head: { "content-type": "text/event-stream" }, status: 200, body: "event: message\n" },
      { head: { "content-type": "text/plain" }, status: 500, body: "the key top-secret is bad" },
      { head: { "content-type": "application/json" }, status: 200, body: "{nonsense" },
      { head: { "content-type": "application/json" }, status: 200, body: "[".repeat(11_000_000) },
    ];
    for (const { status, head, body } of answers) {
      const harness = await startObedientHarness();
      const { url } = await brokenMcpServer((_request, response) => {
        response.writeHead(status, head);
        response.end(body);
      });
      const { messages } = await executeBridged(runtime, harness, {
        servers: `  quiet: { type: http, url: "${url}", headers: { X-Key: top-secret } }`,
        prompt: toolCallPrompt(["mcp__quiet__whisper", { text: "HEY" }]),
      });
      expect(resultOf(messages)).toMatchObject(success);
      errors.push(toolResultTexts(messages).join());
    }
    const [cut, refused, nonsense, endless] = errors;
    expect(cut).toContain("the connection ended before the response arrived");
    expect(refused).toContain("the key *** is bad");
    expect(nonsense).toContain("MCP server `quiet`");
    expect(endless).toContain("the message is too long");
  });
});
