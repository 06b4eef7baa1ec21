import { describe, expect, test } from "vitest";
import {
  type CredentialsPresent,
  chooseCredential,
  type PayingAgent,
} from "../../packages/core/src/runner/credential.ts";

const nothing: CredentialsPresent = { login: false };
const all: CredentialsPresent = {
  login: true,
  apiKey: "made-up-key",
  authToken: "made-up-auth",
  oauthToken: "made-up-oauth",
};
const key = { kind: "api_key", upstream: { kind: "api_key", value: "made-up-key" } };
const auth = { kind: "api_key", upstream: { kind: "auth_token", value: "made-up-auth" } };

type Wish = { credential?: PayingAgent["credential"]; runtime?: "sdk" | "cli"; auth?: string };

function choose(
  { credential = "auto" as PayingAgent["credential"], ...wish }: Wish,
  present = all,
) {
  const docker = { enabled: wish.auth !== undefined, auth: wish.auth } as PayingAgent["docker"];
  const runtime = { type: wish.runtime ?? "cli" } as PayingAgent["runtime"];
  return chooseCredential({ credential, runtime, docker }, present);
}

describe("on the host", () => {
  test("each runtime has its own way, and what is asked for counts", () => {
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
  ])("with nothing there %o is told what is missing", (wish) => {
    expect(choose(wish, nothing)).toMatchObject({
      kind: "none",
      message: expect.stringMatching(/./),
      hint: expect.stringMatching(/./),
    });
  });
});

describe("in a container only what the operator chose", () => {
  test("the gateway has the key, and a subscription needs a way of its own", () => {
    expect(choose({ auth: "gateway" })).toEqual(key);
    expect(choose({ auth: "gateway" }, { login: true })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "gateway", credential: "subscription" })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "none" }, nothing)).toMatchObject({ kind: "none" });
  });

  test("by its environment: the token of a subscription first, unless a key is asked for", () => {
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
    expect(choose({ auth: "env" }, nothing)).toMatchObject({ kind: "none" });
  });

  test("by the login that is mounted: a key is no file, and without a login there is nothing", () => {
    expect(choose({ auth: "mount" })).toEqual({ kind: "subscription" });
    expect(choose({ auth: "mount", credential: "api_key" })).toMatchObject({ kind: "none" });
    expect(choose({ auth: "mount" }, nothing)).toMatchObject({ kind: "none" });
  });
});
