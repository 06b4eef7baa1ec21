import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decidedVariables } from "../../packages/core/src/config/decided-variables.ts";
import { readClock } from "../../packages/core/src/runner/clock.ts";
import { chooseCredential } from "../../packages/core/src/runner/credential.ts";
import { buildEnvironment } from "../../packages/core/src/runner/environment.ts";
import {
  planSession,
  type SessionFacts,
  sessionRule,
} from "../../packages/core/src/runner/session-plan.ts";
import { spentSince } from "../../packages/core/src/runner/usage.ts";
import type { Session } from "../../packages/core/src/state/session.ts";
import { agentOf, inlineAgent, load } from "../support/fleet.ts";

describe("the clock", () => {
  const limits = { start: 60, stall: 600, wall: 3600 };
  const state = { startedAt: 0, initSeen: true, lastSignOfLife: 0, paused: false };
  const cases: [what: string, change: Partial<typeof state>, now: number, verdict: string][] = [
    ["before the first sign of life", { initSeen: false }, 59, "in_time 1"],
    ["no first sign of life", { initSeen: false }, 60, "start_timeout"],
    ["silence within the limit", { lastSignOfLife: 100 }, 600, "in_time 100"],
    ["silence beyond it", { lastSignOfLife: 100 }, 700, "stalled"],
    ["silence while a tool is open", { paused: true }, 3000, "in_time 600"],
    ["the wall counts even then", { paused: true }, 3600, "timeout"],
    ["the wall comes before the stall", { lastSignOfLife: 0 }, 3600, "timeout"],
    ["the wall may be the nearer limit", { lastSignOfLife: 3500 }, 3550, "in_time 50"],
  ];
  test.each(cases)("%s", (_, change, now, expected) => {
    const verdict = readClock({ ...state, ...change }, limits, now);
    expect(verdict.kind === "in_time" ? `in_time ${verdict.lookAgainIn}` : verdict.limit).toBe(
      expected,
    );
  });

  test("never asks to look again in no time", () => {
    fc.assert(
      fc.property(
        fc.nat(5000),
        fc.nat(5000),
        fc.boolean(),
        fc.boolean(),
        (now, sign, initSeen, paused) => {
          const verdict = readClock(
            { startedAt: 0, initSeen, lastSignOfLife: sign, paused },
            limits,
            now,
          );
          if (verdict.kind === "in_time") expect(verdict.lookAgainIn).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("the credential", () => {
  const key = "key-of-the-api";
  type Case = [
    runtime: "sdk" | "cli",
    credential: "auto" | "subscription" | "api_key",
    has: string,
    served: string,
  ];
  const cases: Case[] = [
    ["sdk", "auto", "key", "api_key"],
    ["sdk", "auto", "key login token", "api_key"],
    ["sdk", "auto", "login", "none"],
    ["cli", "auto", "key", "api_key"],
    ["cli", "auto", "key login", "subscription"],
    ["cli", "auto", "key token", "subscription"],
    ["cli", "auto", "", "none"],
    ["cli", "subscription", "key", "none"],
    ["cli", "subscription", "key token", "subscription"],
    ["cli", "api_key", "key login", "api_key"],
    ["cli", "api_key", "login", "none"],
    ["sdk", "api_key", "bearer", "api_key"],
  ];
  test.each(cases)(
    "%s with credential %s and %j is served by %s",
    (type, credential, has, served) => {
      const runtime = { type, stream: "stdout" as const };
      const agent = { credential, runtime, docker: { enabled: false } };
      const choice = chooseCredential(agent, {
        apiKey: has.includes("key") ? key : undefined,
        authToken: has.includes("bearer") ? key : undefined,
        oauthToken: has.includes("token") ? "token-of-the-subscription" : undefined,
        login: has.includes("login"),
      });
      expect(choice.kind).toBe(served);
      if (choice.kind === "none") expect(choice.hint).not.toBe("");
    },
  );
});

describe("the environment", () => {
  const fleet = {
    PATH: "/bin",
    HOME: "/home/x",
    LC_ALL: "C",
    AWS_SECRET_ACCESS_KEY: "secret-of-the-machine",
    ANTHROPIC_API_KEY: "key-of-the-api",
    ANTHROPIC_AUTH_TOKEN: "bearer-of-the-api",
    CLAUDE_CODE_OAUTH_TOKEN: "token-of-the-subscription",
    CLAUDE_CODE_MAX_RETRIES: "1",
    ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
    HTTPS_PROXY: "http://proxy",
    NO_PROXY: "intranet",
  };
  const agent = {
    env: { OWN: "yes" },
    setting_sources: ["user" as const],
    prompts: "verbatim" as const,
    self_wakeup: false,
  };
  const build = (change: Partial<Parameters<typeof buildEnvironment>[0]>) =>
    buildEnvironment({
      fleet,
      agent,
      credential: { kind: "subscription" },
      runToken: "t",
      jobId: "j",
      ...change,
    });
  const gateway = { baseUrl: "http://127.0.0.1:9", placeholder: "placeholder" };
  const withKey = {
    kind: "api_key" as const,
    upstream: { kind: "api_key" as const, value: "key-of-the-api" },
  };

  test("is a short list and what the agent says", () => {
    const env = build({});
    expect(env).toMatchObject({
      PATH: "/bin",
      LC_ALL: "C",
      OWN: "yes",
      CLAUDE_CODE_MAX_RETRIES: "1",
      HERDCTL_RUN: "t",
    });
    expect(env.AWS_SECRET_ACCESS_KEY).toBeUndefined();
  });

  test("a run on the subscription is given no key", () => {
    const env = build({
      credential: { kind: "subscription", oauthToken: "token-of-the-subscription" },
    });
    expect(env.CLAUDE_CODE_OAUTH_TOKEN).toBe("token-of-the-subscription");
    expect(JSON.stringify(env)).not.toMatch(/key-of-the-api|bearer-of-the-api/);
    expect(env.ANTHROPIC_BASE_URL).toBe("http://127.0.0.1:1");
  });

  test("a run on the key is given the placeholder and the gateway's address, past every proxy", () => {
    const env = build({ credential: withKey, gateway });
    expect(env).toMatchObject({
      ANTHROPIC_API_KEY: "placeholder",
      ANTHROPIC_BASE_URL: gateway.baseUrl,
    });
    expect(env.NO_PROXY).toBe("intranet,127.0.0.1,localhost");
    expect(JSON.stringify(env)).not.toMatch(
      /key-of-the-api|bearer-of-the-api|token-of-the-subscription/,
    );
  });

  test.each(decidedVariables)("an agent's own %s changes nothing", (name) => {
    const own = { ...agent, env: { ...agent.env, [name]: "of-the-agent" } };
    const oauthToken = "token-of-the-subscription";
    const subscribed = { credential: { kind: "subscription" as const, oauthToken } };
    const paid = { credential: withKey, gateway };
    for (const ways of [subscribed, paid, { ...subscribed, fleet: { PATH: "/bin" } }]) {
      expect(build({ ...ways, agent: own })).toEqual(build(ways));
    }
  });

  test("inside a Claude Code session that session's variables stay out", () => {
    const env = build({ fleet: { ...fleet, CLAUDECODE: "1", CLAUDE_CODE_ENTRYPOINT: "cli" } });
    expect(env.CLAUDE_CODE_ENTRYPOINT).toBeUndefined();
    expect(env.CLAUDECODE).toBeUndefined();
  });

  test("it says that the settings of the user choose no API, but not beside a login file", () => {
    const name = "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST";
    const token = { kind: "subscription" as const, oauthToken: "token" };
    expect(build({ credential: withKey, gateway })[name]).toBe("1");
    expect(build({ credential: token })[name]).toBe("1");
    expect(build({})[name]).toBeUndefined();
  });

  test("files named in prompts and timers of the session are off unless the agent has them on", () => {
    const names = ["CLAUDE_CODE_DISABLE_FILE_MENTIONS", "CLAUDE_CODE_DISABLE_CRON"];
    const on = build({ agent: { ...agent, prompts: "expanded", self_wakeup: true } });
    expect(names.map((name) => build({})[name])).toEqual(["1", "1"]);
    expect(names.map((name) => on[name])).toEqual([undefined, undefined]);
  });

  test("it leads to no agent that holds keys", () => {
    const env = build({ fleet: { ...fleet, SSH_AUTH_SOCK: "/run/agent.sock" } });
    expect(env.SSH_AUTH_SOCK).toBeUndefined();
    const own = { ...agent, env: { SSH_AUTH_SOCK: "/run/agent.sock" } };
    expect(build({ agent: own }).SSH_AUTH_SOCK).toBe("/run/agent.sock");
  });

  test("CLAUDE.md is brought back only where the project's settings are closed", () => {
    const name = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";
    expect(build({})[name]).toBe("1");
    expect(
      build({ agent: { ...agent, setting_sources: ["user", "project"] } })[name],
    ).toBeUndefined();
  });
});

describe("the session", () => {
  const known: Session = {
    session_id: "s1",
    agent: "a",
    place: "cli",
    cwd: "/w",
    config_dir: null,
    created_at: "2030-01-01T00:00:00.000Z",
    last_used_at: "2030-01-01T00:00:00.000Z",
    expires_at: "2030-01-02T00:00:00.000Z",
    job_id: null,
    node: null,
    schedule: null,
    in_chat: false,
    cost_total_usd: 0,
    usage_total: null,
    turns: 1,
  };
  const facts: SessionFacts = {
    place: "cli",
    cwd: "/w",
    now: new Date("2030-01-01T12:00:00Z"),
    wish: { kind: "latest" },
    known,
    transcriptExists: true,
  };
  const cases: [what: string, change: Partial<SessionFacts>, plan: string][] = [
    ["where the last one left off", {}, "resume s1 fork"],
    ["no last one", { known: undefined }, "fresh"],
    ["expired", { now: new Date("2030-01-03T00:00:00Z") }, "fresh"],
    ["made in another folder", { cwd: "/other" }, "fresh"],
    ["transcript gone", { transcriptExists: false }, "fresh"],
    ["wished for", { wish: { kind: "resume", sessionId: "s1" } }, "resume s1 wait"],
    [
      "wished for and expired: a person decides",
      { wish: { kind: "resume", sessionId: "s1" }, now: new Date("2031-01-01T00:00:00Z") },
      "resume s1 wait",
    ],
    [
      "wished for, made by hand",
      { wish: { kind: "resume", sessionId: "s9" }, known: undefined },
      "resume s9 wait",
    ],
    [
      "wished for and gone",
      { wish: { kind: "resume", sessionId: "s1" }, transcriptExists: false },
      "refuse",
    ],
    [
      "wished for, made at another place",
      { wish: { kind: "resume", sessionId: "s1" }, place: "sdk" },
      "refuse",
    ],
    ["forked", { wish: { kind: "fork", sessionId: "s1" } }, "fork s1"],
    [
      "forked at another place",
      { wish: { kind: "fork", sessionId: "s1" }, place: "docker" },
      "refuse",
    ],
    ["fresh on purpose", { wish: { kind: "fresh" } }, "fresh"],
  ];
  test.each(cases)("%s", (_, change, expected) => {
    const plan = planSession({ ...facts, ...change });
    const shown =
      plan.kind === "resume"
        ? `resume ${plan.sessionId} ${plan.ifBusy}`
        : plan.kind === "fork"
          ? `fork ${plan.from}`
          : plan.kind;
    expect(shown).toBe(expected);
  });
});

describe("whose session a run goes on in", () => {
  const cases: [mode: "fresh" | "persistent", says: boolean | undefined, rule: object][] = [
    ["fresh", undefined, { goesOn: false, ownOf: null }],
    ["fresh", false, { goesOn: false, ownOf: null }],
    ["fresh", true, { goesOn: true, ownOf: "daily" }],
    ["persistent", undefined, { goesOn: true, ownOf: null }],
    ["persistent", true, { goesOn: true, ownOf: null }],
    ["persistent", false, { goesOn: false, ownOf: "daily" }],
  ];
  const agentWith = (mode: string, says: boolean | undefined) =>
    agentOf(
      load(
        inlineAgent(`session: { mode: ${mode} }
schedules:
  daily: { type: cron, cron: "@daily", prompt: p${says === undefined ? "" : `, resume_session: ${says}`} }`),
      ),
      "one",
    );
  test.each(cases)("of a %s agent whose schedule says %s", (mode, says, rule) => {
    const agent = agentWith(mode, says);
    expect(sessionRule(agent, "daily")).toEqual(rule);
    const usual = { goesOn: mode === "persistent", ownOf: null };
    expect(sessionRule(agent, null)).toEqual(usual);
    expect(sessionRule(agent, "gone meanwhile")).toEqual(usual);
  });
});

describe("what a run spent", () => {
  const model = (inputTokens: number, costUSD: number) => ({
    inputTokens,
    outputTokens: 1,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    costUSD,
  });

  test("is the difference where the binary goes on counting", () => {
    const before = { costUsd: 0.1, models: { m: model(100, 0.1) } };
    const spent = spentSince(before, {
      costUsd: 0.3,
      models: { m: model(250, 0.25), n: model(10, 0.05) },
    });
    expect(spent.costUsd).toBe(0.2);
    expect(spent.usage.models.m).toMatchObject({ input_tokens: 150, cost_usd: 0.15 });
    expect(spent.usage.input_tokens).toBe(160);
  });

  test("is the total where it begins anew", () => {
    const before = { costUsd: 0.5, models: { m: model(500, 0.5) } };
    expect(spentSince(before, { costUsd: 0.2, models: { m: model(200, 0.2) } })).toMatchObject({
      costUsd: 0.2,
      usage: { input_tokens: 200 },
    });
    expect(spentSince(undefined, { costUsd: 0.2, models: {} }).costUsd).toBe(0.2);
  });
});
