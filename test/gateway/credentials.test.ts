import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { claudeVersions } from "../support/claude.ts";
import { stage } from "../support/stage.ts";
import { egressTo } from "./hosts.ts";
import { ask, gatewayTo, realKey, standIn } from "./upstream.ts";

/** What the container holds of its own, and what only the fleet may hold. */
const ownToken = "sk-ant-oat01-the-token-that-the-container-brought";
const fleetKey = "sk-ant-api03-the-key-of-the-fleet-process-itself";

function socketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "api.sock");
}

function fleetHasKey(): void {
  vi.stubEnv("ANTHROPIC_API_KEY", fleetKey);
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", fleetKey);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

test.each<Record<string, string>>([
  { "x-api-key": ownToken },
  { authorization: `Bearer ${ownToken}` },
])("with passthrough %j goes up as it came, and nothing of the fleet's", async (headers) => {
  fleetHasKey();
  const api = await standIn((_, response) => response.end("{}"));
  const gateway = await gatewayTo(api.url, {
    credential: { kind: "passthrough" },
    policy: { allow: [] },
  });
  const response = await fetch(`${gateway.baseUrl}/v1/messages`, {
    method: "POST",
    body: "{}",
    headers,
  });
  expect(response.status).toBe(200);
  expect(api.seen[0]?.headers).toMatchObject(headers);
  const credentials = ["x-api-key", "authorization"].filter((name) => api.seen[0]?.headers[name]);
  expect(credentials).toEqual(Object.keys(headers));
  expect(JSON.stringify([api.seen[0]?.rawHeaders, gateway.meter()])).not.toContain(fleetKey);
});

test("a client's own credential does not go up beside the fleet's", async () => {
  const api = await standIn((_, response) => response.end("{}"));
  const gateway = await gatewayTo(api.url, { policy: { allow: [] } });
  const headers = {
    authorization: `Bearer ${ownToken}`,
    "proxy-authorization": ownToken,
    cookie: ownToken,
  };
  expect((await ask(gateway, { headers })).status).toBe(200);
  expect(api.seen[0]?.headers["x-api-key"]).toBe(realKey);
  expect(JSON.stringify(api.seen[0]?.rawHeaders)).not.toContain(ownToken);
});

describe.each(claudeVersions)("claude %s on a sealed socket", (version) => {
  test("works with a token of its own, in the environment", async () => {
    fleetHasKey();
    const set = await stage({ script: { default: "hello" } });
    const socketPath = socketFolder();
    const gateway = await gatewayTo(set.rehearsal.url ?? "", {
      credential: { kind: "passthrough" },
      policy: { allow: [] },
      socketPath,
    });
    const { ANTHROPIC_API_KEY: _, ...env } = set.env;
    const run = await set.claude(version, ["hi"], {
      env: {
        ...env,
        CLAUDE_CODE_OAUTH_TOKEN: ownToken,
        ANTHROPIC_BASE_URL: gateway.baseUrl,
        ANTHROPIC_UNIX_SOCKET: socketPath,
      },
    });
    expect(run.result, run.stdout).toMatchObject({ is_error: false, result: "hello" });
    const keys = set.rehearsal.ledger.entries.flatMap(({ key }) => (key ? [key] : []));
    expect(keys.length).toBeGreaterThan(0);
    expect(new Set(keys.map(({ value }) => value))).toEqual(new Set([ownToken]));
    expect(gateway.meter().refusals.filter(({ status }) => status === 400)).toEqual([]);
  });

  // With ANTHROPIC_UNIX_SOCKET no login file is looked at, so the second door leads to the API too.
  test.each([
    ["a login of its own, in a file", 3_600_000],
    ["one that has expired: the API's word counts, because nothing can renew it", -3_600_000],
  ])("works with %s", async (_, validFor) => {
    fleetHasKey();
    const set = await stage({ script: { default: "hello" } });
    const api = await gatewayTo(set.rehearsal.url ?? "", {
      credential: { kind: "passthrough" },
      policy: { allow: [] },
      socketPath: socketFolder(),
    });
    const egress = await egressTo([], { api });
    const login = {
      accessToken: ownToken,
      refreshToken: "sk-ant-ort01-x",
      expiresAt: Date.now() + validFor,
      scopes: ["user:inference", "user:profile"],
      subscriptionType: "max",
    };
    const file = join(set.configDir, ".credentials.json");
    writeFileSync(file, JSON.stringify({ claudeAiOauth: login }), { mode: 0o400 });
    const { ANTHROPIC_API_KEY: _key, ...env } = set.env;
    const proxy = egress.url ?? "";
    const run = await set.claude(version, ["hi"], {
      env: {
        ...env,
        ANTHROPIC_BASE_URL: proxy,
        HTTP_PROXY: proxy,
        HTTPS_PROXY: proxy,
        NO_PROXY: "127.0.0.1,localhost",
      },
    });
    expect(run.result, run.stdout).toMatchObject({ is_error: false, result: "hello" });
    const keys = set.rehearsal.ledger.entries.flatMap(({ key }) => (key ? [key.value] : []));
    expect(new Set(keys)).toEqual(new Set([ownToken]));
    expect(api.meter().requests).toBeGreaterThan(0);
  });
});

test("through the second door the API asks for the same key and refuses the same things", async () => {
  const upstream = await standIn((_, response) => response.end("{}"));
  const api = await gatewayTo(upstream.url, { policy: { allow: [] } });
  const egress = await egressTo([], { api });
  const door = { ...api, baseUrl: egress.url ?? "" };
  const tools = JSON.stringify({ tools: [{ type: "web_fetch_20260309" }] });
  expect((await ask(door, { body: "{}" })).status).toBe(200);
  expect((await ask(door, { body: "{}", key: "other" })).status).toBe(401);
  expect((await ask(door, { body: tools })).status).toBe(400);
  expect((await ask(door, { path: "/v1/files" })).status).toBe(404);
  expect(upstream.seen).toHaveLength(1);
  expect(egress.refused()).toEqual([]);
});
