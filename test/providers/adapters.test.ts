import type { OutcomeCode } from "@herdctl/protocol";
import { startRehearsal } from "@herdctl/rehearsal";
import { EventStreamCodec } from "@smithy/eventstream-codec";
import { describe, expect, onTestFinished, test } from "vitest";
import { resolveProvider } from "../../packages/core/src/claude/provider/resolve-provider.ts";
import { providerOptions } from "../../packages/core/src/runner/execution/open-proxies.ts";
import { classifyProviderError } from "../../packages/core/src/runner/execution/provider-errors.ts";
import { placeholderPath } from "../../packages/core/src/runner/gateway/credential.ts";
import type { GatewayOptions } from "../../packages/core/src/runner/gateway/gateway.ts";
import type { MeteredRequest } from "../../packages/core/src/runner/gateway/traffic-meter.ts";
import { createMeter, startGatewayTo, startUpstream } from "../gateway/upstream-stand-in.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { canaries, type ProviderCase, providerCases } from "./provider-cases.ts";
import { loadAgentProvider } from "./provider-config.ts";

const messages = [{ role: "user", content: "hi" }];

/** A streamed and a plain call of each provider, as Claude Code sends them. */
const calls: Record<string, { path: string; body: object; plainPath?: string }> = {
  bedrock: {
    path: "/model/eu.anthropic.claude-opus-4-5-20251101-v1%3A0/invoke-with-response-stream",
    plainPath: "/model/eu.anthropic.claude-opus-4-5-20251101-v1%3A0/invoke",
    body: { anthropic_version: "bedrock-2023-05-31", max_tokens: 10, messages },
  },
  vertex: {
    path: "/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-opus-4-5@20251101:streamRawPredict",
    plainPath:
      "/projects/my-project/locations/europe-west1/publishers/anthropic/models/claude-opus-4-5@20251101:rawPredict",
    body: { anthropic_version: "vertex-2023-10-16", max_tokens: 10, messages, stream: true },
  },
};
const messagesCall = {
  path: "/v1/messages?beta=true",
  body: { model: "claude-opus-4-5", max_tokens: 10, messages, stream: true },
};

async function startProvider(
  { type, yaml }: Pick<ProviderCase, "type" | "yaml">,
  options: Partial<GatewayOptions> = {},
  script: Parameters<typeof startRehearsal>[0] = {},
) {
  const rehearsal = await startRehearsal(script);
  onTestFinished(() => rehearsal.stop());
  const environment = { ...canaries, HERDCTL_REHEARSAL_URL: rehearsal.url };
  const choice = resolveProvider(loadAgentProvider(yaml), environment);
  if (choice?.kind !== "provider") throw new Error(`no provider: ${JSON.stringify(choice)}`);
  const providerGateway = providerOptions(choice.provider, environment);
  const gateway = await startGatewayTo(choice.provider.baseUrl, { ...providerGateway, ...options });
  const base = `${gateway.baseUrl}${placeholderPath(gateway.placeholder)}`;
  const call = calls[type] ?? messagesCall;
  const post = (path: string, body: object = call.body, headers: Record<string, string> = {}) =>
    fetch(`${base}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { rehearsal, gateway, base, call, post };
}

describe.each(providerCases)("the adapter of $type", (provider) => {
  test("signs, meters and prices a streamed call", async () => {
    const folder = tempFolderWith({});
    const meter = createMeter(folder);
    const { rehearsal, gateway, post, call } = await startProvider(provider, {
      account: { meter },
    });
    const response = await post(call.path, call.body, {
      "x-amz-security-token": "from-the-client",
      "anthropic-workspace-id": "other",
      cookie: "a=b",
    });
    expect(response.status).toBe(200);
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
    const [entry] = rehearsal.ledger.main;
    expect(entry).toMatchObject({ provider: provider.type, status: 200 });
    await expect.poll(() => gateway.meter().open).toBe(0);
    expect(gateway.meter().usage?.output_tokens).toBe(entry?.usage?.output_tokens);
    expect(meter.spending.usd).toBeGreaterThan(0);
    expect(meter.spending.unknownModels).toEqual([]);
  });

  test("refuses other paths, another run's placeholder and a spent budget", async () => {
    const meter = createMeter(tempFolderWith({}), [
      { key: "max_budget_usd", scope: "run", unit: "usd", limit: 0, ceiling: 0 },
    ]);
    const { rehearsal, gateway, base, call, post } = await startProvider(provider, {
      account: { meter },
    });
    const spent = await post(call.path);
    expect([spent.status, await spent.text()]).toEqual([
      400,
      expect.stringContaining("spending limit"),
    ]);
    for (const path of [
      "/v1/files",
      "/model/amazon.titan-text-express-v1/invoke",
      "/projects/other/locations/europe-west1/publishers/anthropic/models/claude-opus-4-5:rawPredict",
      "/model/../inference-profiles",
      "/custom-model-import",
    ])
      expect([path, (await post(path)).status]).toEqual([path, 404]);
    const foreign = base.replace(gateway.placeholder, "herdctl-0000");
    const stranger = await fetch(`${foreign}${call.path}`, { method: "POST", body: "{}" });
    expect(stranger.status).toBe(401);
    expect(rehearsal.ledger.main).toEqual([]);
  });

  test("applies the body policy of a sealed container", async () => {
    const { rehearsal, call, post } = await startProvider(provider, { policy: { allow: [] } });
    const tools = [{ type: "web_fetch_20250910", name: "web_fetch" }];
    for (const extra of [{ tools }, { anthropic_beta: ["mcp-client-2025-04-04"] }]) {
      const refused = await post(call.path, { ...call.body, ...extra });
      expect([refused.status, await refused.text()]).toEqual([
        400,
        expect.stringContaining("docker.api_features"),
      ]);
    }
    expect((await post(call.path)).status).toBe(200);
    expect(rehearsal.ledger.main).toHaveLength(1);
  });
});

/** The status alone tells the outcome if undefined. */
const outcomeOfError: Record<string, OutcomeCode | undefined> = {
  access_denied: "auth_failed",
  expired_token: "auth_failed",
  model_denied: "config_error",
  daily_quota: "usage_limit",
  throttled: undefined,
  overloaded: undefined,
};
const errorCases = providerCases.flatMap((provider) =>
  Object.keys(outcomeOfError).map((error) => ({ ...provider, error })),
);

test.each(errorCases)("classifies $error of $type", async ({ type, yaml, error }) => {
  const ended: Readonly<MeteredRequest>[] = [];
  const { post, call } = await startProvider(
    { type, yaml },
    { onEvent: (event) => void (event.type === "end" && ended.push(event.request)) },
    { script: { rules: [{ fault: { error: error as "throttled" } }] } },
  );
  await (await post(call.path)).text();
  await expect.poll(() => ended.length).toBe(1);
  const { status = 0, errorType, errorMessage, limit } = ended[0] ?? {};
  const outcome = classifyProviderError({
    label: "the service",
    credential: "THE_KEY",
    error: { status, type: errorType, message: errorMessage },
  });
  const expected = outcomeOfError[error];
  if (expected !== undefined) expect(outcome?.code).toBe(expected);
  else expect([outcome?.code, limit?.status]).toEqual(byDialect(type, error));
});

function byDialect(type: string, error: string): [OutcomeCode | undefined, number] {
  if (type !== "bedrock") return [undefined, error === "throttled" ? 429 : 529];
  return error === "throttled" ? ["rate_limited", 429] : ["overloaded", 503];
}

test("forwards only headers of Claude Code, and those of the configuration", async () => {
  const upstream = await startUpstream((_, response) => response.end("{}"));
  const environment = { LLM_TOKEN: "the-token-0123456789" };
  const yaml = `{ type: custom, base_url: "${upstream.url}", token_env: LLM_TOKEN, headers: { X-Team: herd } }`;
  const choice = resolveProvider(loadAgentProvider(yaml), environment);
  if (choice?.kind !== "provider") throw new Error(JSON.stringify(choice));
  const gateway = await startGatewayTo(upstream.url, providerOptions(choice.provider, environment));
  const headers = {
    "x-api-key": gateway.placeholder,
    "x-claude-code-session-id": "s",
    "anthropic-version": "2023-06-01",
    "x-amz-target": "Other",
    "x-goog-user-project": "other",
    "x-team": "mine",
  };
  await fetch(`${gateway.baseUrl}/v1/messages`, { method: "POST", headers, body: "{}" });
  const { headers: seen = {} } = upstream.seen[0] ?? {};
  expect(seen).toMatchObject({
    authorization: "Bearer the-token-0123456789",
    "x-claude-code-session-id": "s",
    "x-team": "herd",
  });
  for (const name of ["x-api-key", "x-amz-target", "x-goog-user-project"])
    expect(seen).not.toHaveProperty(name);
});

test("decodes Bedrock's stream like the AWS library, and reports an exception in it", async () => {
  const { gateway, post, call } = await startProvider(
    { type: "bedrock", yaml: "{ type: bedrock, region: eu-central-1 }" },
    {},
    { script: { rules: [{ match: { prompt: "hi" }, fault: { overload: "midway" } }] } },
  );
  const codec = new EventStreamCodec(
    (bytes) => Buffer.from(bytes).toString(),
    (text) => Buffer.from(text),
  );
  let rest = Buffer.from(await (await post(call.path)).arrayBuffer());
  const kinds: unknown[] = [];
  for (let length = 0; rest.length > 0; rest = rest.subarray(length)) {
    length = rest.readUInt32BE(0);
    const { headers } = codec.decode(rest.subarray(0, length));
    kinds.push(headers[":event-type"]?.value ?? headers[":exception-type"]?.value);
  }
  expect(new Set(kinds)).toEqual(new Set(["chunk", "serviceUnavailableException"]));
  await expect.poll(() => gateway.meter().open).toBe(0);
});

test("refuses a wrong signature, a wrong service and unsigned requests at the stand-in", async () => {
  const { rehearsal } = await startProvider({ type: "bedrock", yaml: "bedrock" });
  const url = `${rehearsal.url}/bedrock/model/anthropic.claude-x/invoke`;
  const authorization =
    "AWS4-HMAC-SHA256 Credential=REHEARSALKEYID/20260101/us-east-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date, Signature=";
  const attempts: Record<string, string>[] = [
    {},
    { authorization: `${authorization}${"0".repeat(64)}` },
    { authorization: `${authorization.replace("bedrock/", "s3/")}${"0".repeat(64)}` },
  ];
  for (const headers of attempts) {
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    expect([response.status, response.headers.get("x-amzn-errortype")]).toEqual([
      403,
      expect.stringMatching(/Exception$/),
    ]);
  }
});
