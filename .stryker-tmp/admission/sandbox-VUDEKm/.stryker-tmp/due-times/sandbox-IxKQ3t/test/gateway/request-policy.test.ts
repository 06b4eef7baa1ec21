import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Rehearsal, Script } from "@herdctl/rehearsal";
import { describe, expect, test } from "vitest";
import type { Gateway } from "../../packages/core/src/runner/gateway/gateway.ts";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { sendMessage, startGatewayTo, startUpstream } from "./upstream-stand-in.ts";

const sealedOptions = { policy: { allow: [] } };
const search = { type: "web_search_20250305", name: "web_search", max_uses: 8 };
const message = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };

/** An API that returns the request. */
async function startEcho() {
  return startUpstream(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
}

test("refuses a POST that makes the API fetch a page, with the setting that would allow it", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const tools = [{ type: "web_fetch_20260309", name: "web_fetch" }];
  for (const path of ["/v1/messages?beta=true", "/v1/messages/count_tokens"]) {
    const response = await sendMessage(gateway, {
      path,
      body: JSON.stringify({ ...message, tools }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe("invalid_request_error");
    expect(error.message).toContain("docker.api_features: [web_fetch]");
  }
  expect(api.seen).toHaveLength(0);
  expect(gateway.meter()).toMatchObject({ requests: 0, refused: 2 });
  expect(gateway.meter().refusals[0]).toMatchObject({
    status: 400,
    reason: expect.stringContaining("fetch web pages"),
    remedy: "docker.api_features: [web_fetch]",
  });
});

test("forwards what the fleet allows and nothing else", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, { policy: { allow: ["web_search"] } });
  const body = (more: object) => JSON.stringify({ ...message, ...more });
  expect((await sendMessage(gateway, { body: body({ tools: [search] }) })).status).toBe(200);
  const two = body({ tools: [search], mcp_servers: [{ type: "url", url: "https://x/" }] });
  expect((await sendMessage(gateway, { body: two })).status).toBe(400);
});

test("refuses a beta that switches on such a feature", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const headers = { "anthropic-beta": "claude-code-20250219, mcp-client-2025-11-20" };
  const response = await sendMessage(gateway, { body: JSON.stringify(message), headers });
  expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("[mcp]")]);
});

test("forwards exactly the request that was checked", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const twice = `{ "tools": [${JSON.stringify(search)}], "tools": [] }`;
  const headers = { "content-type": "application/json; charset=utf-16" };
  expect(await (await sendMessage(gateway, { body: twice, headers })).text()).toBe('{"tools":[]}');
  expect(api.seen[0]?.headers).toMatchObject({
    "content-type": "application/json",
    "content-length": "12",
  });
  expect(gateway.meter().bytesUp).toBe(12);
});

test.each<[what: string, init: RequestInit & { path?: string }, reason: RegExp]>([
  [
    "a compressed body",
    { body: gzipSync("{}"), headers: { "content-encoding": "gzip" } },
    /encoded/,
  ],
  ["a body that is not JSON", { body: "tools=x" }, /not a JSON object/],
  ["a body in another charset", { body: Buffer.from('{"a":1}', "utf16le") }, /UTF-8|JSON object/],
  ["a body of brackets", { body: "[".repeat(3_000_000) }, /nested too deep/],
  ["an unknown query", { body: "{}", path: "/v1/messages?beta=true&tools=x" }, /query/],
])("refuses %s with the reason", async (_, init, reason) => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const response = await sendMessage(gateway, init);
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(reason);
  expect(api.seen).toHaveLength(0);
});

/** Sends a body in parts of one megabyte until it gets an answer or the connection closes. */
async function sendMegabytes(gateway: Gateway, megabytes: number): Promise<string> {
  const socket = connect(Number(new URL(gateway.baseUrl).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (text) => {
    answer += text;
  });
  const closed = new Promise((resolve) =>
    socket.on("error", () => undefined).once("close", resolve),
  );
  const key = `x-api-key: ${gateway.placeholder}`;
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\n${key}\r\ntransfer-encoding: chunked\r\n\r\n`,
  );
  const part = Buffer.concat([
    Buffer.from("100000\r\n"),
    Buffer.alloc(0x100000, " "),
    Buffer.from("\r\n"),
  ]);
  for (let sent = 0; sent < megabytes && !socket.destroyed; sent += 1) {
    await new Promise((resolve) => socket.write(part, resolve));
  }
  if (!socket.destroyed) socket.write("0\r\n\r\n");
  await closed;
  return answer;
}

test("refuses a body that is too long and cuts an endless one", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  expect(await sendMegabytes(gateway, 70)).toMatch(/^HTTP\/1\.1 413 [\s\S]*request_too_large/);
  expect(await sendMegabytes(gateway, 1_000)).toBe("");
  expect(gateway.meter()).toMatchObject({ requests: 0, refused: 1 });
  expect((await sendMessage(gateway, { body: JSON.stringify(message) })).status).toBe(200);
}, 60_000);

test("does not forward the body of a request that has none", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const socket = connect(Number(new URL(gateway.baseUrl).port), "127.0.0.1");
  socket.resume();
  socket.write(
    `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.placeholder}\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello`,
  );
  await new Promise((resolve) => socket.once("close", resolve));
  expect(api.seen[0]?.headers["content-length"]).toBe("0");
});

test("sends nothing to the API for a client that leaves in the middle of its body", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const socket = connect(Number(new URL(gateway.baseUrl).port), "127.0.0.1");
  socket.write(
    `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${gateway.placeholder}\r\ncontent-length: 9\r\n\r\n{"a"`,
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.destroy();
  expect((await sendMessage(gateway, { body: JSON.stringify(message) })).status).toBe(200);
  expect(api.seen).toHaveLength(1);
  expect(gateway.meter()).toMatchObject({ requests: 1, refused: 0 });
});

test("does not wait for an open tunnel on stop", async () => {
  const api = await startEcho();
  const gateway = await startGatewayTo(api.url, sealedOptions);
  const socket = connect({
    port: Number(new URL(gateway.baseUrl).port),
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  socket.on("error", () => undefined);
  socket.write("CONNECT example.test:443 HTTP/1.1\r\nhost: x\r\n\r\n");
  await new Promise((resolve) => socket.once("data", resolve));
  await gateway.stop();
  socket.destroy();
});

/** The number of requests to the API that allow a search. */
function countSearches({ ledger }: Rehearsal): number {
  const bodies = ledger.entries.map((entry) => JSON.stringify(entry.body ?? {}));
  return bodies.filter((body) => body.includes('"type":"web_search_2')).length;
}

const workingScript: Script = {
  rules: [
    { match: { tool_result: "hello" }, reply: "All done." },
    { match: { tool_result: "api_features" }, reply: "It is not allowed." },
    {
      match: { prompt: "search" },
      reply: { tools: [{ name: "WebSearch", input: { query: "herds" } }] },
    },
    {
      match: { prompt: "work" },
      reply: { tools: [{ name: "Bash", input: { command: "echo hello" } }] },
    },
  ],
};

const mixedScript: Script = {
  rules: [
    { match: { prompt: "say hello" }, reply: "hello" },
    {
      match: { prompt: "everything" },
      replies: [
        {
          tools: [
            { name: "Read", input: { file_path: "dot.png" } },
            { name: "Read", input: { file_path: "page.pdf" } },
            { name: "ToolSearch", input: { query: "select:WebFetch,NotebookEdit" } },
            {
              name: "Task",
              input: { description: "x", prompt: "say hello", subagent_type: "general-purpose" },
            },
          ],
        },
        "That was everything.",
      ],
    },
  ],
};

const dotPng =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const onePagePdf = [
  "%PDF-1.1",
  "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
  "2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
  "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj",
  "trailer<</Root 1 0 R>>",
  "%%EOF",
].join("\n");

describe.each(claudeVersions)("claude %s behind a gateway with request checks", (version) => {
  async function behind(allow: "web_search"[]) {
    const set = await startHarness({ script: workingScript });
    const gateway = await startGatewayTo(set.rehearsal.url ?? "", { policy: { allow } });
    const env = {
      ...set.env,
      ANTHROPIC_BASE_URL: gateway.baseUrl,
      ANTHROPIC_API_KEY: gateway.placeholder,
    };
    const run = (prompt: string) =>
      set.claude(version, [prompt, "--permission-mode", "bypassPermissions"], { env });
    return { ...set, gateway, run };
  }

  test("works unchanged", async () => {
    const { run, gateway, rehearsal } = await behind([]);
    const done = await run("work");
    expect(done.result).toMatchObject({ is_error: false, result: "All done." });
    expect(gateway.meter()).toMatchObject({ refused: 0 });
    expect(rehearsal.ledger.main).toHaveLength(2);
  });

  test("passes images, documents, subagents, deferred tools and a further turn", async () => {
    const set = await startHarness({ script: mixedScript });
    writeFileSync(join(set.workspace, "dot.png"), Buffer.from(dotPng, "base64"));
    writeFileSync(join(set.workspace, "page.pdf"), onePagePdf);
    const gateway = await startGatewayTo(set.rehearsal.url ?? "", sealedOptions);
    const env = {
      ...set.env,
      ANTHROPIC_BASE_URL: gateway.baseUrl,
      ANTHROPIC_API_KEY: gateway.placeholder,
    };
    const args = ["--permission-mode", "bypassPermissions"];
    const first = await set.claude(version, ["everything", ...args], { env });
    expect(first.result, first.stdout).toMatchObject({ is_error: false });
    const again = ["again", "--resume", first.result?.session_id ?? "", ...args];
    const schema = ["--json-schema", '{"type":"object","properties":{"a":{"type":"string"}}}'];
    const second = await set.claude(version, [...again, ...schema], { env });
    expect(second.result, second.stdout).toMatchObject({ subtype: "success" });
    const sent = JSON.stringify(set.rehearsal.ledger.entries.map(({ body }) => body));
    expect(sent).toContain('"type":"image","source":{"type":"base64"');
    expect(sent).toContain('"type":"document","source":{"type":"base64"');
    expect(set.rehearsal.ledger.filter({ kind: "subagent" }).length).toBeGreaterThan(0);
    expect(gateway.meter().refusals).toEqual([]);
  });

  test("explains a refused web search at most twice, and continues", async () => {
    const { run, gateway, rehearsal } = await behind([]);
    const done = await run("search");
    expect(done.result).toMatchObject({ is_error: false });
    expect(done.stdout).toContain("docker.api_features: [web_search]");
    expect(done.stdout).not.toMatch(/failed to authenticate/i);
    // 325 retries once without one of its betas.
    expect(gateway.meter().refused).toBeLessThanOrEqual(2);
    expect(gateway.meter().refusals[0]).toMatchObject({
      remedy: "docker.api_features: [web_search]",
    });
    expect(countSearches(rehearsal)).toBe(0);
  });

  test("searches the web when the fleet allows it", async () => {
    const { run, gateway, rehearsal } = await behind(["web_search"]);
    await run("search");
    expect(gateway.meter()).toMatchObject({ refused: 0 });
    expect(countSearches(rehearsal)).toBeGreaterThan(0);
  });
});
