import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { claudeVersions } from "../support/claude-binaries.ts";
import { startHarness } from "../support/harness.ts";
import { startTestEgress } from "./egress-hosts.ts";
import { realKey, sendMessage, startGatewayTo, startUpstream } from "./upstream-stand-in.ts";

/** The credential of the container, and the one that only the fleet may have. */
const ownToken = "sk-ant-oat01-the-token-that-the-container-brought";
const fleetKey = "sk-ant-api03-the-key-of-the-fleet-process-itself";

function socketFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "herdctl-gateway-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "api.sock");
}

function setFleetKey(): void {
  vi.stubEnv("ANTHROPIC_API_KEY", fleetKey);
  vi.stubEnv("ANTHROPIC_AUTH_TOKEN", fleetKey);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
}

test.each<Record<string, string>>([
  { "x-api-key": ownToken },
  { authorization: `Bearer ${ownToken}` },
])(
  "forwards the client's credential unchanged with passthrough %j, and nothing of the fleet's",
  async (headers) => {
    setFleetKey();
    const api = await startUpstream((_, response) => response.end("{}"));
    const gateway = await startGatewayTo(api.url, {
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
  },
);

test("does not forward a client's own credential beside the fleet's", async () => {
  const api = await startUpstream((_, response) => response.end("{}"));
  const gateway = await startGatewayTo(api.url, { policy: { allow: [] } });
  const headers = {
    authorization: `Bearer ${ownToken}`,
    "proxy-authorization": ownToken,
    cookie: ownToken,
  };
  expect((await sendMessage(gateway, { headers })).status).toBe(200);
  expect(api.seen[0]?.headers["x-api-key"]).toBe(realKey);
  expect(JSON.stringify(api.seen[0]?.rawHeaders)).not.toContain(ownToken);
});

describe.each(claudeVersions)("claude %s on a socket with request checks", (version) => {
  test("works with a token in its environment", async () => {
    setFleetKey();
    const set = await startHarness({ script: { default: "hello" } });
    const socketPath = socketFolder();
    const gateway = await startGatewayTo(set.rehearsal.url ?? "", {
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

  // With ANTHROPIC_UNIX_SOCKET claude reads no login file, so the egress proxy forwards to the API
  // as well.
  test.each([
    ["a valid login file", 3_600_000],
    ["an expired login file, which only the API rejects because it cannot be renewed", -3_600_000],
  ])("works with %s", async (_, validFor) => {
    setFleetKey();
    const set = await startHarness({ script: { default: "hello" } });
    const api = await startGatewayTo(set.rehearsal.url ?? "", {
      credential: { kind: "passthrough" },
      policy: { allow: [] },
      socketPath: socketFolder(),
    });
    const egress = await startTestEgress([], { api });
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

test("applies the same key and request checks to the API through the egress proxy", async () => {
  const upstream = await startUpstream((_, response) => response.end("{}"));
  const api = await startGatewayTo(upstream.url, { policy: { allow: [] } });
  const egress = await startTestEgress([], { api });
  const egressApi = { ...api, baseUrl: egress.url ?? "" };
  const tools = JSON.stringify({ tools: [{ type: "web_fetch_20260309" }] });
  expect((await sendMessage(egressApi, { body: "{}" })).status).toBe(200);
  expect((await sendMessage(egressApi, { body: "{}", key: "other" })).status).toBe(401);
  expect((await sendMessage(egressApi, { body: tools })).status).toBe(400);
  expect((await sendMessage(egressApi, { path: "/v1/files" })).status).toBe(404);
  expect(upstream.seen).toHaveLength(1);
  expect(egress.refusedHosts()).toEqual([]);
});
