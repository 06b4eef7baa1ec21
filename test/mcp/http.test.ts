import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import type { Approval, Job } from "@herdctl/protocol";
import { Authenticator, createApp, serveHttp } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { bashScript, longRunningScript } from "../cli/running-fleet.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { freePort } from "../webhooks/webhook-harness.ts";
import { blockingMcpEnv, connectOverHttp } from "./mcp-harness.ts";

const token = "a token that nobody can guess".replaceAll(" ", "-");

const agents = `  - { name: coder, runtime: cli }
  - { name: asks, runtime: cli, permission_mode: default }`;

async function startMcpServer(
  mcp: string,
  script: Parameters<typeof startHarness>[0] = {},
  names = "",
) {
  const harness = await startHarness(script);
  const port = await freePort();
  const file = writeFleetFile(
    harness,
    `${agents}\nserver: { port: ${port}, allowed_hosts: [${names}]${mcp && `, mcp: ${mcp}`} }`,
  );
  writeFileSync(join(dirname(file), ".env"), `HERDCTL_MCP_TOKEN=${token}\n`);
  const fleet = await startFleetInProcess(harness, file);
  const bugs: unknown[] = [];
  const onBug = (bug: unknown) => void bugs.push(bug);
  const access = new Authenticator(fleet);
  const server = await serveHttp(
    fleet,
    createApp(fleet, { onBug, authenticator: access }),
    access,
    { onBug },
  );
  onTestFinished(async () => {
    await server.stop();
    expect(bugs).toEqual([]);
  });
  return { on: harness, fleet, file, port, url: `http://127.0.0.1:${port}/mcp` };
}

const openMcp = "{ token_env: HERDCTL_MCP_TOKEN, allow: [trigger, answer, cancel] }";
const readOnlyMcp = "{ token_env: HERDCTL_MCP_TOKEN }";

test("lets a client with the token control the fleet over its port", async () => {
  const long = { match: { prompt: "long" }, ...longRunningScript.rules[0] };
  const script = { rules: [long, ...bashScript("touch done; echo figs").rules] };
  const { url } = await startMcpServer(openMcp, { script });
  const fleet = await connectOverHttp(url, token);
  expect(await fleet.names()).toEqual(
    expect.arrayContaining(["list_agents", "trigger_agent", "answer_approval", "cancel_job"]),
  );
  expect(await fleet.callTool("fleet_status")).toMatchObject({
    running: true,
    agents: ["coder", "asks"],
  });

  const { job } = await fleet.callTool<{ job: Job }>("trigger_agent", {
    agent: "coder",
    prompt: "go",
  });
  expect(await fleet.callTool("wait_for_job", { id: job.id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { outcome: "success" },
  });
  const [, output] = await fleet.callForTexts("read_job_output", { id: job.id });
  expect(output).toContain("[result] figs");

  const asks = await fleet.callTool<{ job: Job }>("trigger_agent", { agent: "asks", prompt: "go" });
  const [asked] = await waitUntil("a question", async () => {
    const { approvals } = await fleet.callTool<{ approvals: Approval[] }>("list_approvals");
    return approvals.length > 0 && approvals;
  });
  expect(
    await fleet.callTool("answer_approval", { id: asked?.id, decision: "deny" }),
  ).toMatchObject({
    approval: { answer: "deny", answered_by: "token:mcp" },
  });
  expect(await fleet.callTool("wait_for_job", { id: asks.job.id, seconds: 50 })).toMatchObject({
    job: { outcome: "finished_with_denials" },
  });

  const slow = await fleet.callTool<{ job: Job }>("trigger_agent", {
    agent: "coder",
    prompt: "long",
  });
  await fleet.callTool("cancel_job", { id: slow.job.id, force: true });
  expect(await fleet.callTool("wait_for_job", { id: slow.job.id, seconds: 50 })).toMatchObject({
    job: { status: "cancelled" },
  });
});

test("lets claude connect to the port with the token and use the tools", async () => {
  const script = {
    rules: [{ replies: [{ tools: [{ name: "mcp__shop__list_agents", input: {} }] }, "Seen."] }],
  };
  const { on, url } = await startMcpServer(readOnlyMcp, { script });
  const shop = { type: "http", url, headers: { authorization: `Bearer ${token}` } };
  const config = join(
    tempFolderWith({ "mcp.json": JSON.stringify({ mcpServers: { shop } }) }),
    "mcp.json",
  );
  const options = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__shop"];
  const env = { ...on.env, ...blockingMcpEnv };
  const { result, messages, stdout } = await on.claude("325", ["look", ...options], { env });
  expect(messages.find((one) => one.subtype === "init")?.mcp_servers).toMatchObject([
    { name: "shop", status: "connected" },
  ]);
  expect(result).toMatchObject({ result: "Seen.", is_error: false, permission_denials: [] });
  expect(stdout).toContain('\\"name\\":\\"coder\\"');
});

test("only lets the token look without a configured permission", async () => {
  const { url, fleet: manager } = await startMcpServer(readOnlyMcp);
  const fleet = await connectOverHttp(url, token);
  expect(await fleet.names()).not.toContain("trigger_agent");
  expect(await fleet.expectRefusal("trigger_agent", { agent: "coder", prompt: "go" })).toContain(
    "disabled",
  );
  expect((await manager.jobs.list({ limit: 1 })).jobs).toEqual([]);
});

interface RequestOptions {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const defaultHeaders = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  authorization: `Bearer ${token}`,
};

/** Unlike fetch, with any Host and Origin. */
function sendRequest(
  port: number,
  { path = "/mcp", method = "POST", headers = {}, body = ping }: RequestOptions = {},
) {
  return new Promise<{ status: number; text: string; allow?: string }>((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { ...defaultHeaders, ...headers },
    });
    sent.once("response", async (response) => {
      let text = "";
      for await (const chunk of response.setEncoding("utf8")) text += chunk;
      resolve({ status: response.statusCode ?? 0, text, allow: response.headers.allow });
    });
    sent.once("error", reject);
    sent.end(method === "POST" ? body : undefined);
  });
}

test("refuses a wrong host, a foreign origin and a missing token, in that order", async () => {
  const { port } = await startMcpServer(readOnlyMcp, {}, "fleet.example");
  const cases: [number, Record<string, string>][] = [
    [200, {}],
    [200, { host: "localhost" }],
    [200, { host: "[::1]:1" }],
    [200, { host: "fleet.example:8443" }],
    [200, { origin: `http://127.0.0.1:${port}` }],
    [200, { authorization: `bearer ${token}` }],
    [403, { host: "evil.example" }],
    [403, { host: "evil.example", authorization: "" }],
    [403, { host: "0.0.0.0" }],
    [403, { host: "127.0.0.1.evil.example" }],
    [400, { host: "evil.example@localhost" }],
    [403, { origin: "http://evil.example" }],
    [403, { origin: "null", authorization: "" }],
    [403, { origin: "http://127.0.0.1:1" }],
    [403, { host: "evil.example", origin: "http://evil.example" }],
    [403, { "sec-fetch-site": "cross-site" }],
    [401, { authorization: "" }],
    [401, { authorization: "Bearer " }],
    [401, { authorization: `Bearer ${token}x` }],
    [401, { authorization: `Bearer ${token.slice(1)}` }],
    [401, { authorization: token }],
    [401, { authorization: `Basic ${token}` }],
  ];
  for (const [status, headers] of cases) {
    expect([headers, (await sendRequest(port, { headers })).status]).toEqual([headers, status]);
  }
  const { text } = await sendRequest(port, { headers: { authorization: "Bearer wrong" } });
  expect(text).not.toContain(token);
  expect(await sendRequest(port, { method: "GET" })).toMatchObject({ status: 405, allow: "POST" });
  expect(await sendRequest(port, { method: "DELETE" })).toMatchObject({ status: 405 });
  expect(await sendRequest(port, { method: "GET", headers: { authorization: "" } })).toMatchObject({
    status: 401,
  });
});

test("answers an oversized or empty body with its status and serves other requests", async () => {
  const { port } = await startMcpServer(readOnlyMcp);
  const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(2 ** 20) });
  expect((await sendRequest(port, { body: large })).status).toBe(413);
  expect((await sendRequest(port, { body: "{" })).status).toBe(400);
  expect((await sendRequest(port, { body: '{"id":1}' })).status).toBe(400);
  expect((await sendRequest(port, { headers: { "content-type": "text/plain" } })).status).toBe(415);
  expect((await sendRequest(port, { path: "/mcp/more" })).status).toBe(404);
  expect((await sendRequest(port)).status).toBe(200);
});

test("refuses a missing, empty or short token and applies a changed one immediately", async () => {
  const { port, file } = await startMcpServer(readOnlyMcp);
  const env = join(dirname(file), ".env");
  for (const line of ["", "HERDCTL_MCP_TOKEN=\n", "HERDCTL_MCP_TOKEN=short\n"]) {
    writeFileSync(env, line);
    expect((await sendRequest(port, { headers: { authorization: "Bearer short" } })).status).toBe(
      503,
    );
    expect((await sendRequest(port, { headers: { authorization: "Bearer " } })).status).toBe(503);
  }
  const other = "another-token-of-some-length";
  writeFileSync(env, `HERDCTL_MCP_TOKEN=${other}\n`);
  expect((await sendRequest(port)).status).toBe(401);
  expect((await sendRequest(port, { headers: { authorization: `Bearer ${other}` } })).status).toBe(
    200,
  );
});

test("limits wrong tokens and never locks out the right one", async () => {
  const { port, fleet } = await startMcpServer(readOnlyMcp);
  const wrong = { headers: { authorization: "Bearer wrong" } };
  for (let i = 0; i < 10; i++) expect((await sendRequest(port, wrong)).status).toBe(401);
  expect((await sendRequest(port, wrong)).status).toBe(429);
  expect((await sendRequest(port)).status).toBe(200);
  const own = readFileSync(join(fleet.http.stateDir, "token"), "utf8").trim();
  const headers = { authorization: `Bearer ${own}` };
  expect((await sendRequest(port, { path: "/v1/status", method: "GET", headers })).status).toBe(
    200,
  );
});

test("accepts the MCP token for the tools only, and no other token for the tools", async () => {
  const { port, fleet } = await startMcpServer(readOnlyMcp);
  expect((await sendRequest(port, { path: "/v1/status", method: "GET" })).status).toBe(401);
  const own = readFileSync(join(fleet.http.stateDir, "token"), "utf8").trim();
  expect((await sendRequest(port, { headers: { authorization: `Bearer ${own}` } })).status).toBe(
    401,
  );
});

test("answers only when configured, and follows a reload", async () => {
  const { port, file, fleet } = await startMcpServer("");
  expect((await sendRequest(port)).status).toBe(404);
  const plain = readFileSync(file, "utf8");
  writeFileSync(file, plain.replace(`port: ${port}`, `port: ${port}, mcp: ${readOnlyMcp}`));
  await fleet.reload();
  expect((await sendRequest(port)).status).toBe(200);
  writeFileSync(file, plain);
  await fleet.reload();
  expect((await sendRequest(port)).status).toBe(404);
});
