import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { resolveProvider } from "../../packages/core/src/claude/provider/resolve-provider.ts";
import { buildRunEnvironment } from "../../packages/core/src/runner/execution/open-run.ts";
import { awsKeys } from "../../packages/core/src/runner/gateway/providers/credentials/aws.ts";
import {
  awsKeysFromCommand,
  tokenFromCommand,
} from "../../packages/core/src/runner/gateway/providers/credentials/command.ts";
import { googleToken } from "../../packages/core/src/runner/gateway/providers/credentials/google.ts";
import { RenewableCredential } from "../../packages/core/src/runner/gateway/providers/credentials/renewable.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { loadAgentProvider } from "./provider-config.ts";

afterEach(() => vi.unstubAllEnvs());

function resolve(yaml: string | undefined, environment: Record<string, string> = {}) {
  const home = tempFolderWith({});
  return resolveProvider(yaml === undefined ? undefined : loadAgentProvider(yaml), {
    HOME: home,
    ...environment,
  });
}

describe("the provider of an agent", () => {
  test.each([
    [
      "bedrock",
      { AWS_PROFILE: "prod" },
      "AWS profile prod",
      "bedrock-runtime.us-east-1.amazonaws.com",
    ],
    ["bedrock", { AWS_BEARER_TOKEN_BEDROCK: "t" }, "AWS_BEARER_TOKEN_BEDROCK", "us-east-1"],
    ["{ type: bedrock, profile: ci }", { AWS_BEARER_TOKEN_BEDROCK: "t" }, "AWS profile ci", ""],
    [
      "{ type: mantle, instance_role: true, region: eu-west-1 }",
      {},
      "the machine's AWS role",
      "bedrock-mantle.eu-west-1.api.aws/anthropic",
    ],
    [
      "{ type: foundry, resource: r }",
      { ANTHROPIC_FOUNDRY_API_KEY: "k" },
      "ANTHROPIC_FOUNDRY_API_KEY",
      "https://r.services.ai.azure.com/anthropic",
    ],
    [
      "{ type: vertex, project: p, region: global, token_env: T }",
      { T: "t" },
      "T",
      "https://aiplatform.googleapis.com/v1",
    ],
  ])("of %s with %o has the credential %s", (yaml, environment, source, url) => {
    const choice = resolve(yaml, environment);
    if (choice?.kind !== "provider") throw new Error(JSON.stringify(choice));
    expect(choice.provider.credential.source).toBe(source);
    expect(choice.provider.baseUrl).toContain(url);
  });

  test.each([
    ["bedrock", "there are no AWS credentials", "provider.instance_role"],
    ["vertex", "has no `project`", "provider.project"],
    ["{ type: vertex, project: p }", "there are no Google credentials", "gcloud auth"],
    ["foundry", "has no address", "provider.resource"],
    ["{ type: custom, base_url: https://x.test }", "there is no key", "ANTHROPIC_AUTH_TOKEN"],
    ["{ type: foundry, resource: r, token_env: NOT_SET }", "NOT_SET is not set", "NOT_SET"],
  ])("is refused as %s with the reason and a hint", (yaml, message, hint) => {
    expect(resolve(yaml)).toMatchObject({
      kind: "none",
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    });
  });

  test("follows Claude Code's variables, except inside a session", () => {
    const environment = { CLAUDE_CODE_USE_BEDROCK: "1", AWS_PROFILE: "p", AWS_REGION: "eu-west-3" };
    expect(resolve(undefined, environment)).toMatchObject({
      provider: { type: "bedrock", region: "eu-west-3" },
    });
    expect(resolve(undefined, { ...environment, CLAUDECODE: "1" })).toBeUndefined();
    expect(resolve("anthropic", environment)).toBeUndefined();
  });
});

test("variables of a provider are not inherited by a run", () => {
  const env = buildRunEnvironment({
    fleet: { PATH: "/bin", CLAUDE_CODE_USE_BEDROCK: "1", CLAUDE_CODE_SKIP_VERTEX_AUTH: "1" },
    agent: { env: {}, prompts: "verbatim", self_wakeup: false, setting_sources: ["user"] },
    credential: { kind: "api_key", upstream: { kind: "api_key", value: "k" } },
    runToken: "run",
    jobId: "job",
  });
  expect(Object.keys(env).filter((name) => /_USE_|_SKIP_/.test(name))).toEqual([]);
});

describe("AWS keys", () => {
  test("come from a profile, also by its credential_process", async () => {
    const folder = tempFolderWith({
      credentials: "[static]\naws_access_key_id = AKIA1\naws_secret_access_key = s1\n",
      config: `[profile tool]\ncredential_process = echo '{"Version":1,"AccessKeyId":"AKIA2","SecretAccessKey":"s2"}'\n`,
    });
    const files = {
      configFile: join(folder, "config"),
      credentialsFile: join(folder, "credentials"),
    };
    const keysOf = async (profile: string) =>
      (await awsKeys({ from: "profile", profile, ...files }, "us-east-1", {})).value;
    expect(await keysOf("static")).toMatchObject({ accessKeyId: "AKIA1", secretAccessKey: "s1" });
    expect(await keysOf("tool")).toMatchObject({ accessKeyId: "AKIA2", secretAccessKey: "s2" });
    await expect(keysOf("missing")).rejects.toMatchObject({
      code: "credential_unavailable",
      hint: expect.stringContaining("aws sso login"),
    });
  });

  test("come from a container's endpoint, and from the machine only if asked for", async () => {
    const keys = {
      Code: "Success",
      AccessKeyId: "AKIA3",
      SecretAccessKey: "s3",
      Token: "t3",
      Expiration: "2999-01-01T00:00:00Z",
    };
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(request.url ?? "");
      const isList = /security-credentials\/$/.test(request.url ?? "");
      if (request.method === "PUT") return response.end("imds-token");
      response.end(isList ? "role" : JSON.stringify(keys));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const address = { fullUri: `${url}/keys` };
    const found = await awsKeys({ from: "container", address }, "us-east-1", {});
    expect(found).toMatchObject({
      value: { accessKeyId: "AKIA3", sessionToken: "t3" },
      expiresAt: Date.parse(keys.Expiration),
    });
    vi.stubEnv("AWS_EC2_METADATA_SERVICE_ENDPOINT", url);
    expect(resolve("bedrock")).toMatchObject({ kind: "none" });
    expect(seen).toEqual(["/keys"]);
    const machine = await awsKeys({ from: "instance" }, "us-east-1", {});
    expect(machine.value).toMatchObject({ accessKeyId: "AKIA3" });
  });

  test("come from a command with the format of the AWS tools", async () => {
    const output = `{"Version":1,"AccessKeyId":"A","SecretAccessKey":"$SECRET","Expiration":"2999-01-01T00:00:00Z"}`;
    const command = `echo "${output.replaceAll('"', '\\"')}"`;
    expect(await awsKeysFromCommand(command, { SECRET: "of-env", PATH: process.env.PATH })).toEqual(
      {
        value: { accessKeyId: "A", secretAccessKey: "of-env" },
        expiresAt: Date.parse("2999-01-01T00:00:00Z"),
      },
    );
  });
});

describe("tokens", () => {
  test.each([
    ["echo my-token", { value: "my-token", expiresAt: 600_000 }],
    [`echo '{"token":"t","expires_at":"1970-01-01T00:00:05Z"}'`, { value: "t", expiresAt: 5_000 }],
  ])("come from the command `%s`", async (command, result) => {
    expect(await tokenFromCommand(command, { PATH: process.env.PATH }, 0)).toEqual(result);
  });

  test.each(["echo two words", "echo '{}'", "exit 3"])(
    "are refused from the command `%s`, without its output",
    async (command) => {
      const error = await tokenFromCommand(command, { PATH: process.env.PATH }).catch((e) => e);
      expect(error).toMatchObject({ code: "credential_unavailable" });
      expect(error.message).not.toContain("two words");
    },
  );

  test("are renewed five minutes before their end, once for concurrent calls", async () => {
    let [now, fetched] = [0, 0];
    const fetchToken = async () => {
      fetched += 1;
      return { value: `token ${fetched}`, expiresAt: now + 3_600_000 };
    };
    const token = new RenewableCredential(fetchToken, () => now);
    expect(await Promise.all([token.get(), token.get()])).toEqual(["token 1", "token 1"]);
    now = 3_299_999;
    expect(await token.get()).toBe("token 1");
    now = 3_300_000;
    expect(await token.get()).toBe("token 2");
    token.drop();
    expect(await token.get()).toBe("token 3");
  });
});

describe("Google access tokens", () => {
  const tokenServer = async () => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      bodies.push(body);
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          access_token: "ya29.of-the-server",
          expires_in: 3599,
          token_type: "Bearer",
        }),
      );
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    /** Google's token address is fixed in the library. */
    const toServer: typeof fetch = (input, init) =>
      fetch(`${url}${new URL(String(input)).pathname}`, init);
    return {
      bodies,
      url,
      clientOptions: { transporterOptions: { fetchImplementation: toServer } },
    };
  };

  test.each(["service_account", "authorized_user", "external_account"])(
    "come from a file of the type %s",
    async (type) => {
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
      const { bodies, url, clientOptions } = await tokenServer();
      const folder = tempFolderWith({ subject: "subject-token" });
      const contents: Record<string, object> = {
        service_account: {
          client_email: "agent@my-project.iam.gserviceaccount.com",
          private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
        },
        authorized_user: { client_id: "id", client_secret: "s", refresh_token: "refresh-me" },
        external_account: {
          audience:
            "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/p/providers/x",
          subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
          token_url: `${url}/token`,
          credential_source: { file: join(folder, "subject") },
        },
      };
      const file = join(
        tempFolderWith({ "adc.json": JSON.stringify({ type, ...contents[type] }) }),
        "adc.json",
      );
      const { value, expiresAt } = await googleToken(file, clientOptions);
      expect(value).toBe("ya29.of-the-server");
      expect(expiresAt).toBeGreaterThan(Date.now() + 60_000);
      expect(bodies.join()).toMatch(/assertion|refresh-me|subject-token/);
    },
  );

  test("are refused with a hint if the file is broken", async () => {
    const file = join(tempFolderWith({ "adc.json": "{}" }), "adc.json");
    await expect(googleToken(file)).rejects.toMatchObject({
      code: "credential_unavailable",
      hint: expect.stringContaining("gcloud auth"),
    });
  });
});
