import { describe, expect, test } from "vitest";
import {
  type AvailableCredentials,
  type CredentialAgent,
  chooseCredential,
} from "../../packages/core/src/claude/credential.ts";

const noCredentials: AvailableCredentials = { login: false };
const allCredentials: AvailableCredentials = {
  login: true,
  apiKey: "made-up-key",
  authToken: "made-up-auth",
  oauthToken: "made-up-oauth",
};
const key = { kind: "api_key", upstream: { kind: "api_key", value: "made-up-key" } };
const auth = { kind: "api_key", upstream: { kind: "auth_token", value: "made-up-auth" } };

type ChoiceInput = {
  credential?: CredentialAgent["credential"];
  runtime?: "sdk" | "cli";
  auth?: string;
};

function choose(
  { credential = "auto" as CredentialAgent["credential"], ...input }: ChoiceInput,
  present = allCredentials,
) {
  const docker = {
    enabled: input.auth !== undefined,
    auth: input.auth,
  } as CredentialAgent["docker"];
  const runtime = { type: input.runtime ?? "cli" } as CredentialAgent["runtime"];
  return chooseCredential({ credential, runtime, docker }, present);
}

describe("credential of a run on the host", () => {
  test("uses the key for the SDK, the login for the CLI, and the configured credential before both", () => {
    expect(choose({ runtime: "sdk" })).toMatchObject(key);
    expect(choose({ runtime: "cli" })).toEqual({
      kind: "subscription",
      oauthToken: "made-up-oauth",
    });
    expect(choose({ runtime: "cli" }, { login: true })).toEqual({ kind: "subscription" });
    expect(choose({ runtime: "cli" }, { login: false, authToken: "made-up-auth" })).toEqual(auth);
    expect(choose({ credential: "api_key" })).toMatchObject(key);
    expect(choose({ credential: "subscription" })).toMatchObject({ kind: "subscription" });
  });

  test.each([
    { runtime: "sdk" as const },
    { runtime: "cli" as const },
    { credential: "api_key" as const },
    { credential: "subscription" as const },
  ])("reports what is missing for %o", (input) => {
    expect(choose(input, noCredentials)).toMatchObject({
      kind: "none",
      message: expect.stringMatching(/./),
      hint: expect.stringMatching(/./),
    });
  });
});

describe("credential of a run in a container", () => {
  test("gives the gateway the key and refuses a subscription there", () => {
    expect(choose({ auth: "gateway" })).toEqual(key);
    expect(choose({ auth: "gateway" }, { login: true })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "gateway", credential: "subscription" })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "none" }, noCredentials)).toMatchObject({ kind: "none" });
  });

  test("passes the subscription token by environment, or the key when the configuration asks for it", () => {
    expect(choose({ auth: "env" })).toEqual({ kind: "subscription", oauthToken: "made-up-oauth" });
    expect(choose({ auth: "env", credential: "api_key" })).toEqual({ ...key, inside: true });
    expect(choose({ auth: "env" }, { login: true, authToken: "made-up-auth" })).toEqual({
      ...auth,
      inside: true,
    });
    const onlyKey = { login: true, apiKey: "made-up-key" };
    expect(choose({ auth: "env", credential: "subscription" }, onlyKey)).toMatchObject({
      kind: "none",
    });
    expect(choose({ auth: "env" }, noCredentials)).toMatchObject({ kind: "none" });
  });

  test("mounts the login, and finds no credential without a login or when a key is required", () => {
    expect(choose({ auth: "mount" })).toEqual({ kind: "subscription" });
    expect(choose({ auth: "mount", credential: "api_key" })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "mount" }, noCredentials)).toMatchObject({ kind: "none" });
  });
});
