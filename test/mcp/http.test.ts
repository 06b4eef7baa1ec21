import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import type { Approval, Job } from "@herdctl/core";
import { Access, createApp, servePort } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { longWork, working } from "../cli/fleet-stage-running.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { folderWith } from "../support/folder.ts";
import { stage } from "../support/stage.ts";
import { freePort } from "../webhooks/hook-stage.ts";
import { overHttp, patient } from "./mcp-stage.ts";

const token = "a token that nobody can guess".replaceAll(" ", "-");

const agents = `  - { name: coder, runtime: cli }
  - { name: asks, runtime: cli, permission_mode: default }`;

async function served(mcp: string, script: Parameters<typeof stage>[0] = {}, names = "") {
  const on = await stage(script);
  const port = await freePort();
  const file = fleetFile(
    on,
    `${agents}\nserver: { port: ${port}, names: [${names}]${mcp && `, mcp: ${mcp}`} }`,
  );
  writeFileSync(join(dirname(file), ".env"), `HERDCTL_MCP_TOKEN=${token}\n`);
  const fleet = await startFleet(on, file);
  const bugs: unknown[] = [];
  const onBug = (bug: unknown) => void bugs.push(bug);
  const access = new Access(fleet);
  const server = await servePort(fleet, createApp(fleet, { onBug, access }), access, { onBug });
  onTestFinished(async () => {
    await server.stop();
    expect(bugs).toEqual([]);
  });
  return { on, fleet, file, port, url: `http://127.0.0.1:${port}/mcp` };
}

const open = "{ token_env: HERDCTL_MCP_TOKEN, allow: [trigger, answer, cancel] }";
const closed = "{ token_env: HERDCTL_MCP_TOKEN }";

test("a client with the token drives the fleet over its port", async () => {
  const long = { match: { prompt: "long" }, ...longWork.rules[0] };
  const script = { rules: [long, ...working("touch done; echo figs").rules] };
  const { url } = await served(open, { script });
  const fleet = await overHttp(url, token);
  expect(await fleet.names()).toEqual(
    expect.arrayContaining(["list_agents", "trigger_agent", "answer_approval", "cancel_job"]),
  );
  expect(await fleet.ask("fleet_status")).toMatchObject({
    running: true,
    agents: ["coder", "asks"],
  });

  const { job } = await fleet.ask<{ job: Job }>("trigger_agent", { agent: "coder", prompt: "go" });
  expect(await fleet.ask("wait_for_job", { id: job.id, seconds: 50 })).toMatchObject({
    finished: true,
    job: { outcome: "success" },
  });
  const [, output] = await fleet.texts("read_job_output", { id: job.id });
  expect(output).toContain("[result] figs");

  const asks = await fleet.ask<{ job: Job }>("trigger_agent", { agent: "asks", prompt: "go" });
  const [asked] = await until("a question", async () => {
    const { approvals } = await fleet.ask<{ approvals: Approval[] }>("list_approvals");
    return approvals.length > 0 && approvals;
  });
  expect(await fleet.ask("answer_approval", { id: asked?.id, word: "deny" })).toMatchObject({
    approval: { answer: "deny", answered_by: "token:mcp" },
  });
  expect(await fleet.ask("wait_for_job", { id: asks.job.id, seconds: 50 })).toMatchObject({
    job: { outcome: "finished_with_denials" },
  });

  const slow = await fleet.ask<{ job: Job }>("trigger_agent", { agent: "coder", prompt: "long" });
  await fleet.ask("cancel_job", { id: slow.job.id, force: true });
  expect(await fleet.ask("wait_for_job", { id: slow.job.id, seconds: 50 })).toMatchObject({
    job: { status: "cancelled" },
  });
});

test("claude with the token connects to the port and uses the tools", async () => {
  const script = {
    rules: [{ replies: [{ tools: [{ name: "mcp__shop__list_agents", input: {} }] }, "Seen."] }],
  };
  const { on, url } = await served(closed, { script });
  const shop = { type: "http", url, headers: { authorization: `Bearer ${token}` } };
  const config = join(
    folderWith({ "mcp.json": JSON.stringify({ mcpServers: { shop } }) }),
    "mcp.json",
  );
  const options = ["--mcp-config", config, "--strict-mcp-config", "--allowedTools", "mcp__shop"];
  const env = { ...on.env, ...patient };
  const { result, messages, stdout } = await on.claude("325", ["look", ...options], { env });
  expect(messages.find((one) => one.subtype === "init")?.mcp_servers).toMatchObject([
    { name: "shop", status: "connected" },
  ]);
  expect(result).toMatchObject({ result: "Seen.", is_error: false, permission_denials: [] });
  expect(stdout).toContain('\\"name\\":\\"coder\\"');
});

test("without a word in the configuration the token only looks", async () => {
  const { url, fleet: manager } = await served(closed);
  const fleet = await overHttp(url, token);
  expect(await fleet.names()).not.toContain("trigger_agent");
  expect(await fleet.refusal("trigger_agent", { agent: "coder", prompt: "go" })).toContain(
    "disabled",
  );
  expect((await manager.jobs({ limit: 1 })).jobs).toEqual([]);
});

interface Sent {
  path?: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
}

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const usual = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json",
  authorization: `Bearer ${token}`,
};

/** As fetch would not: with any Host and Origin. */
function send(
  port: number,
  { path = "/mcp", method = "POST", headers = {}, body = ping }: Sent = {},
) {
  return new Promise<{ status: number; text: string; allow?: string }>((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path,
      method,
      headers: { ...usual, ...headers },
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

test("who asks by another name, from another page or without the token is refused in that order", async () => {
  const { port } = await served(closed, {}, "fleet.example");
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
    expect([headers, (await send(port, { headers })).status]).toEqual([headers, status]);
  }
  const { text } = await send(port, { headers: { authorization: "Bearer wrong" } });
  expect(text).not.toContain(token);
  expect(await send(port, { method: "GET" })).toMatchObject({ status: 405, allow: "POST" });
  expect(await send(port, { method: "DELETE" })).toMatchObject({ status: 405 });
  expect(await send(port, { method: "GET", headers: { authorization: "" } })).toMatchObject({
    status: 401,
  });
});

test("a body that is too large, or none at all, gets its status, and others are served", async () => {
  const { port } = await served(closed);
  const large = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "x".repeat(2 ** 20) });
  expect((await send(port, { body: large })).status).toBe(413);
  expect((await send(port, { body: "{" })).status).toBe(400);
  expect((await send(port, { body: '{"id":1}' })).status).toBe(400);
  expect((await send(port, { headers: { "content-type": "text/plain" } })).status).toBe(415);
  expect((await send(port, { path: "/mcp/more" })).status).toBe(404);
  expect((await send(port)).status).toBe(200);
});

test("a token that is missing, empty or short opens nothing; a changed one counts at once", async () => {
  const { port, file } = await served(closed);
  const env = join(dirname(file), ".env");
  for (const line of ["", "HERDCTL_MCP_TOKEN=\n", "HERDCTL_MCP_TOKEN=short\n"]) {
    writeFileSync(env, line);
    expect((await send(port, { headers: { authorization: "Bearer short" } })).status).toBe(503);
    expect((await send(port, { headers: { authorization: "Bearer " } })).status).toBe(503);
  }
  const other = "another-token-of-some-length";
  writeFileSync(env, `HERDCTL_MCP_TOKEN=${other}\n`);
  expect((await send(port)).status).toBe(401);
  expect((await send(port, { headers: { authorization: `Bearer ${other}` } })).status).toBe(200);
});

test("wrong tokens are limited, and the right one is never locked out", async () => {
  const { port, fleet } = await served(closed);
  const wrong = { headers: { authorization: "Bearer wrong" } };
  for (let i = 0; i < 10; i++) expect((await send(port, wrong)).status).toBe(401);
  expect((await send(port, wrong)).status).toBe(429);
  expect((await send(port)).status).toBe(200);
  const own = readFileSync(join(fleet.port.stateDir, "token"), "utf8").trim();
  const headers = { authorization: `Bearer ${own}` };
  expect((await send(port, { path: "/v1/status", method: "GET", headers })).status).toBe(200);
});

test("the token of the tools opens nothing else, and no other token opens the tools", async () => {
  const { port, fleet } = await served(closed);
  expect((await send(port, { path: "/v1/status", method: "GET" })).status).toBe(401);
  const own = readFileSync(join(fleet.port.stateDir, "token"), "utf8").trim();
  expect((await send(port, { headers: { authorization: `Bearer ${own}` } })).status).toBe(401);
});

test("nothing is answered unless the configuration says so, and a reload begins and ends it", async () => {
  const { port, file, fleet } = await served("");
  expect((await send(port)).status).toBe(404);
  const plain = readFileSync(file, "utf8");
  writeFileSync(file, plain.replace(`port: ${port}`, `port: ${port}, mcp: ${closed}`));
  await fleet.reload();
  expect((await send(port)).status).toBe(200);
  writeFileSync(file, plain);
  await fleet.reload();
  expect((await send(port)).status).toBe(404);
});
