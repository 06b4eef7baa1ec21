import { expect, test } from "vitest";
import {
  buildRunEnvironment,
  type RunEnvironmentSources,
} from "../../packages/core/src/runner/execution/run-environment.ts";

function environment(more: Partial<RunEnvironmentSources>) {
  return buildRunEnvironment({
    fleet: { PATH: "/bin", SECRET: "s", LC_ALL: "C", NO_PROXY: "intra" },
    agent: { env: {}, setting_sources: ["project"] } as RunEnvironmentSources["agent"],
    credential: { kind: "subscription" },
    runToken: "token",
    jobId: "job-1",
    ...more,
  });
}

const gateway = { baseUrl: "http://127.0.0.1:1", placeholder: "made-up", socketPath: "/s" };
const upstream = (kind: "api_key" | "auth_token") => ({ kind, value: "made-up-value" });

test("contains a short list and the run's markers, and nothing else of the fleet", () => {
  expect(environment({})).toEqual({
    PATH: "/bin",
    LC_ALL: "C",
    NO_PROXY: "intra",
    CLAUDE_CODE_DISABLE_CRON: "1",
    DISABLE_AUTOUPDATER: "1",
    HERDCTL_JOB: "job-1",
    HERDCTL_RUN: "token",
  });
});

test("keeps a key in the gateway and reaches the gateway past every proxy", () => {
  const env = environment({
    credential: { kind: "api_key", upstream: upstream("api_key") },
    gateway,
  });
  expect(env).toMatchObject({
    ANTHROPIC_API_KEY: "made-up",
    ANTHROPIC_BASE_URL: gateway.baseUrl,
    ANTHROPIC_UNIX_SOCKET: "/s",
    NO_PROXY: "intra,127.0.0.1,localhost",
  });
  expect(JSON.stringify(env)).not.toContain("made-up-value");
  const without = environment({ credential: { kind: "api_key", upstream: upstream("api_key") } });
  expect(Object.keys(without)).not.toContain("ANTHROPIC_API_KEY");
});

test.each([
  ["api_key", "ANTHROPIC_API_KEY"],
  ["auth_token", "ANTHROPIC_AUTH_TOKEN"],
] as const)("gives a container its %s only where the operator allows it", (kind, name) => {
  const credential = { kind: "api_key" as const, upstream: upstream(kind), inside: true };
  expect(environment({ credential })[name]).toBe("made-up-value");
});

test("passes an agent's own variables except those that the run sets and keys", () => {
  const env = { MINE: "1", ANTHROPIC_API_KEY: "made-up-value", HERDCTL_RUN: "other" };
  const agent = { env, setting_sources: [] } as unknown as RunEnvironmentSources["agent"];
  const credential = { kind: "subscription" as const, oauthToken: "made-up-token" };
  expect(environment({ agent, credential })).toMatchObject({
    MINE: "1",
    HERDCTL_RUN: "token",
    CLAUDE_CODE_OAUTH_TOKEN: "made-up-token",
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
  });
  expect(environment({ agent })).not.toHaveProperty("ANTHROPIC_API_KEY");
});
