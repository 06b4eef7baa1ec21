import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { performBridged, richServer } from "../support/bridged.ts";
import { brokenMcpServer, forgetfulMcpServer, sseMcpServer } from "../support/mcp-http.ts";
import { processesWith } from "../support/processes.ts";
import {
  initOf,
  obedientStage,
  obey,
  resultOf,
  runtimes,
  toolResults,
} from "../support/runtime.ts";
import { sliceOf } from "../support/width.ts";

const rich = (env = "") => `  rich: { command: node, args: ["${richServer}"], env: { ${env} } }`;
const call = (tool: string) => obey([`mcp__rich__${tool}`, {}]);
const success = { subtype: "success", is_error: false };

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

describe.each(sliceOf(runtimes.toReversed(), 1))("$name", (runtime) => {
  test("a server that dies in a call: claude hears of it, and it is there again for the next", async () => {
    const on = await obedientStage();
    const { messages, notes, servers } = await performBridged(runtime, on, {
      servers: rich(),
      prompt: `${call("die")}\n\n${call("ping")}`,
    });
    const [died, ping] = toolResults(messages);
    expect(died).toContain("MCP server `rich`: it ended");
    expect(ping).toContain('"{}"');
    expect(servers).toHaveLength(2);
    expect(notes).toBe("MCP server `rich`: it ended\n  I die of nothing\n");
    expect(resultOf(messages)).toMatchObject(success);
  });

  test("a server that cannot be started has failed, and the log says why", async () => {
    const on = await obedientStage();
    const refusal = `process.stdin.once("data", (line) => {
      const error = { code: -1, message: "not today" };
      console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, error }));
    })`;
    const program = (text: string) => `{ command: node, args: [-e, ${JSON.stringify(text)}] }`;
    const { messages, notes } = await performBridged(runtime, on, {
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

  test("a server that hangs as it starts is given up, and the run goes on", async () => {
    const on = await obedientStage();
    const { messages, notes } = await performBridged(runtime, on, {
      servers: rich("SLOW_START: 600000"),
      env: { MCP_TIMEOUT: "1500" },
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "rich", status: "failed" }]);
    expect(notes).toContain("it did not answer within 1.5 s");
    expect(resultOf(messages)).toMatchObject(success);
    expect(processesWith(`HERDCTL_RUN=${on.home}`)).toEqual([]);
  });

  test("a server that takes its time is waited for", async () => {
    const on = await obedientStage();
    const { messages } = await performBridged(runtime, on, {
      servers: rich("SLOW_START: 2000"),
      prompt: call("ping"),
    });
    expect(toolResults(messages).join()).toContain('"{}"');
  });

  test("a server that does not end by itself is asked, then ended", async () => {
    const on = await obedientStage();
    const diary = join(on.home, "diary");
    const { messages } = await performBridged(runtime, on, {
      servers: rich(`STAYS: "1", DIARY: "${diary}"`),
      prompt: call("ping"),
    });
    expect(resultOf(messages)).toMatchObject(success);
    expect(readFileSync(diary, "utf8")).toContain("SIGTERM");
    expect(processesWith(`HERDCTL_RUN=${on.home}`)).toEqual([]);
  });

  test("floods, garbage and an endless message of a server do not break the run", async () => {
    const on = await obedientStage();
    const calls = ["flood", "garbage", "endless", "place"].map(call);
    const { messages, notes } = await performBridged(runtime, on, {
      servers: rich(),
      prompt: calls.join("\n\n"),
    });
    const [flood, garbage, endless, place] = toolResults(messages);
    expect(flood).toContain("flooded");
    expect(garbage).toContain("after the garbage");
    expect(endless).toContain("it ended (ReadBuffer exceeded maximum size");
    expect(place).toContain("herdctl-");
    expect(notes).toMatch(/\d{5} messages that nobody asked for were dropped/);
    expect(resultOf(messages)).toMatchObject(success);
  });

  test("a server elsewhere that lets go of us is found again for the next call", async () => {
    const on = await obedientStage();
    const [http, sse] = [await forgetfulMcpServer(), await sseMcpServer()];
    const say = (server: string, text: string) => obey([`mcp__${server}__whisper`, { text }]);
    const { messages } = await performBridged(runtime, on, {
      servers: `  http: { type: http, url: "${http.url}" }\n  sse: { type: sse, url: "${sse.url}" }`,
      prompt: [
        ...[say("http", "FORGET"), say("http", "LOST"), say("http", "FOUND")],
        ...[say("sse", "CUT"), say("sse", "FOUND")],
      ].join("\n\n"),
    });
    const [forget, lost, found, cut, again] = toolResults(messages);
    expect(forget).toContain("forget by http");
    expect(lost).toContain("MCP server `http`");
    expect(found).toContain("found by http");
    expect(cut).toContain("MCP server `sse`: it ended");
    expect(again).toContain("found by sse");
  });

  test("a server elsewhere that is not there has failed, and the log says why", async () => {
    const on = await obedientStage();
    const { messages, notes } = await performBridged(runtime, on, {
      servers: `  http: { type: http, url: "http://127.0.0.1:${await closedPort()}/mcp" }`,
    });
    expect(initOf(messages)?.mcp_servers).toMatchObject([{ name: "http", status: "failed" }]);
    expect(notes).toContain("it could not be started: fetch failed: ECONNREFUSED");
  });

  test("a call by HTTP whose answer breaks off, is refused, is no message or has no end", async () => {
    const told: string[] = [];
    const answers = [
      { head: { "content-type": "text/event-stream" }, status: 200, body: "event: message\n" },
      { head: { "content-type": "text/plain" }, status: 500, body: "the key top-secret is bad" },
      { head: { "content-type": "application/json" }, status: 200, body: "{nonsense" },
      { head: { "content-type": "application/json" }, status: 200, body: "[".repeat(11_000_000) },
    ];
    for (const { status, head, body } of answers) {
      const on = await obedientStage();
      const { url } = await brokenMcpServer((_request, response) => {
        response.writeHead(status, head);
        response.end(body);
      });
      const { messages } = await performBridged(runtime, on, {
        servers: `  quiet: { type: http, url: "${url}", headers: { X-Key: top-secret } }`,
        prompt: obey(["mcp__quiet__whisper", { text: "HEY" }]),
      });
      expect(resultOf(messages)).toMatchObject(success);
      told.push(toolResults(messages).join());
    }
    const [cut, refused, nonsense, endless] = told;
    expect(cut).toContain("the connection ended before the answer came");
    expect(refused).toContain("the key *** is bad");
    expect(nonsense).toContain("MCP server `quiet`");
    expect(endless).toContain("its message is too long");
  });
});
