import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { reservedVariables } from "../../packages/config/src/reserved-variables.ts";
import { chooseCredential } from "../../packages/core/src/claude/credential.ts";
import {
  planSession,
  type SessionFacts,
  sessionRule,
} from "../../packages/core/src/jobs/attempts/session-plan.ts";
import { costSince } from "../../packages/core/src/runner/execution/build-report.ts";
import { checkDeadlines } from "../../packages/core/src/runner/execution/deadline-timer.ts";
import { buildRunEnvironment } from "../../packages/core/src/runner/execution/open-run.ts";
import type { Session } from "../../packages/protocol/src/records/session.ts";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

describe("run timeouts", () => {
  const limits = { start: 60, stall: 600, total: 3600 };
  const state = { startedAt: 0, isInitialized: true, lastActivityAt: 0, isPaused: false };
  const cases: [what: string, change: Partial<typeof state>, now: number, verdict: string][] = [
    ["a run before its first message", { isInitialized: false }, 59, "in_time 1"],
    ["a run without a first message", { isInitialized: false }, 60, "start_timeout"],
    ["silence within the limit", { lastActivityAt: 100 }, 600, "in_time 100"],
    ["silence beyond the limit", { lastActivityAt: 100 }, 700, "stalled"],
    ["silence while a tool runs", { isPaused: true }, 3000, "in_time 600"],
    ["the total timeout while a tool runs", { isPaused: true }, 3600, "timeout"],
    ["a total timeout before the stall", { lastActivityAt: 0 }, 3600, "timeout"],
    ["a total timeout that is nearer than the stall", { lastActivityAt: 3500 }, 3550, "in_time 50"],
  ];
  test.each(cases)("checks the limits for %s", (_, change, now, expected) => {
    const verdict = checkDeadlines({ ...state, ...change }, limits, now);
    expect(verdict.kind === "in_time" ? `in_time ${verdict.recheckInMs}` : verdict.limit).toBe(
      expected,
    );
  });

  test("never schedules the next check immediately", () => {
    fc.assert(
      fc.property(
        fc.nat(5000),
        fc.nat(5000),
        fc.boolean(),
        fc.boolean(),
        (now, sign, initSeen, paused) => {
          const verdict = checkDeadlines(
            { startedAt: 0, isInitialized: initSeen, lastActivityAt: sign, isPaused: paused },
            limits,
            now,
          );
          if (verdict.kind === "in_time") expect(verdict.recheckInMs).toBeGreaterThan(0);
        },
      ),
    );
  });
});

describe("credential of a run", () => {
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
  test.each(cases)("serves %s with credential %s and %j by %s", (type, credential, has, served) => {
    const runtime = { type, stream: "stdout" as const };
    const agent = { credential, runtime, docker: { enabled: false, network: "none" as const } };
    const choice = chooseCredential(agent, {
      apiKey: has.includes("key") ? key : undefined,
      authToken: has.includes("bearer") ? key : undefined,
      oauthToken: has.includes("token") ? "token-of-the-subscription" : undefined,
      login: has.includes("login"),
    });
    expect(choice.kind).toBe(served);
    if (choice.kind === "none") expect(choice.hint).not.toBe("");
  });
});

describe("environment of a run", () => {
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
  const build = (change: Partial<Parameters<typeof buildRunEnvironment>[0]>) =>
    buildRunEnvironment({
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

  test("passes a short list of variables and the agent's", () => {
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

  test("gives no key to a run on the subscription", () => {
    const env = build({
      credential: { kind: "subscription", oauthToken: "token-of-the-subscription" },
    });
    expect(env.CLAUDE_CODE_OAUTH_TOKEN).toBe("token-of-the-subscription");
    expect(JSON.stringify(env)).not.toMatch(/key-of-the-api|bearer-of-the-api/);
    expect(env.ANTHROPIC_BASE_URL).toBe("http://127.0.0.1:1");
  });

  test("gives the placeholder and the gateway's address to a run on the key, past every proxy", () => {
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

  test.each(reservedVariables)("ignores an agent's own %s", (name) => {
    const own = { ...agent, env: { ...agent.env, [name]: "of-the-agent" } };
    const oauthToken = "token-of-the-subscription";
    const subscribed = { credential: { kind: "subscription" as const, oauthToken } };
    const paid = { credential: withKey, gateway };
    for (const ways of [subscribed, paid, { ...subscribed, fleet: { PATH: "/bin" } }]) {
      expect(build({ ...ways, agent: own })).toEqual(build(ways));
    }
  });

  test("excludes the variables of an outer Claude Code session", () => {
    const env = build({ fleet: { ...fleet, CLAUDECODE: "1", CLAUDE_CODE_ENTRYPOINT: "cli" } });
    expect(env.CLAUDE_CODE_ENTRYPOINT).toBeUndefined();
    expect(env.CLAUDECODE).toBeUndefined();
  });

  test("prevents user settings from choosing the API, except with a login file", () => {
    const name = "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST";
    const token = { kind: "subscription" as const, oauthToken: "token" };
    expect(build({ credential: withKey, gateway })[name]).toBe("1");
    expect(build({ credential: token })[name]).toBe("1");
    expect(build({})[name]).toBeUndefined();
  });

  test("disables file mentions in prompts and session timers unless the agent enables them", () => {
    const names = ["CLAUDE_CODE_DISABLE_FILE_MENTIONS", "CLAUDE_CODE_DISABLE_CRON"];
    const on = build({ agent: { ...agent, prompts: "expanded", self_wakeup: true } });
    expect(names.map((name) => build({})[name])).toEqual(["1", "1"]);
    expect(names.map((name) => on[name])).toEqual([undefined, undefined]);
  });

  test("passes no SSH agent to agents", () => {
    const env = build({ fleet: { ...fleet, SSH_AUTH_SOCK: "/run/agent.sock" } });
    expect(env.SSH_AUTH_SOCK).toBeUndefined();
    const own = { ...agent, env: { SSH_AUTH_SOCK: "/run/agent.sock" } };
    expect(build({ agent: own }).SSH_AUTH_SOCK).toBe("/run/agent.sock");
  });

  test("restores CLAUDE.md only where the project's settings are disabled", () => {
    const name = "CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD";
    expect(build({})[name]).toBe("1");
    expect(
      build({ agent: { ...agent, setting_sources: ["user", "project"] } })[name],
    ).toBeUndefined();
  });
});

describe("session decision", () => {
  const known: Session = {
    session_id: "s1",
    agent: "a",
    session_home: "cli",
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
    ["the latest session", {}, "resume s1 fork"],
    ["a first run", { known: undefined }, "fresh"],
    ["an expired session", { now: new Date("2030-01-03T00:00:00Z") }, "fresh"],
    ["a session from another folder", { cwd: "/other" }, "fresh"],
    ["a session without its transcript", { transcriptExists: false }, "fresh"],
    ["a session to resume", { wish: { kind: "resume", sessionId: "s1" } }, "resume s1 wait"],
    [
      "an expired session that a person resumes",
      { wish: { kind: "resume", sessionId: "s1" }, now: new Date("2031-01-01T00:00:00Z") },
      "resume s1 wait",
    ],
    [
      "an unknown session that a person resumes",
      { wish: { kind: "resume", sessionId: "s9" }, known: undefined },
      "resume s9 wait",
    ],
    [
      "a session to resume without its transcript",
      { wish: { kind: "resume", sessionId: "s1" }, transcriptExists: false },
      "refuse",
    ],
    [
      "a session to resume from another place",
      { wish: { kind: "resume", sessionId: "s1" }, place: "sdk" },
      "refuse",
    ],
    ["a session to fork", { wish: { kind: "fork", sessionId: "s1" } }, "fork s1"],
    [
      "a session to fork from another place",
      { wish: { kind: "fork", sessionId: "s1" }, place: "docker" },
      "refuse",
    ],
    ["a fresh session on request", { wish: { kind: "fresh" } }, "fresh"],
  ];
  test.each(cases)("chooses the session for %s", (_, change, expected) => {
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

describe("default session of a run", () => {
  const cases: [mode: "fresh" | "persistent", resumeSession: boolean | undefined, rule: object][] =
    [
      ["fresh", undefined, { shouldResume: false, ownerSchedule: null }],
      ["fresh", false, { shouldResume: false, ownerSchedule: null }],
      ["fresh", true, { shouldResume: true, ownerSchedule: "daily" }],
      ["persistent", undefined, { shouldResume: true, ownerSchedule: null }],
      ["persistent", true, { shouldResume: true, ownerSchedule: null }],
      ["persistent", false, { shouldResume: false, ownerSchedule: "daily" }],
    ];
  const agentWith = (mode: string, resumeSession: boolean | undefined) =>
    agentOf(
      loadTestFleet(
        inlineAgent(`session: { mode: ${mode} }
schedules:
  daily: { type: cron, cron: "@daily", prompt: p${resumeSession === undefined ? "" : `, resume_session: ${resumeSession}`} }`),
      ),
      "one",
    );
  test.each(cases)("resumes for a %s agent whose schedule says %s", (mode, resumeSession, rule) => {
    const agent = agentWith(mode, resumeSession);
    expect(sessionRule(agent, "daily")).toEqual(rule);
    const usual = { shouldResume: mode === "persistent", ownerSchedule: null };
    expect(sessionRule(agent, null)).toEqual(usual);
    expect(sessionRule(agent, "gone meanwhile")).toEqual(usual);
  });
});

describe("usage of a run", () => {
  const model = (inputTokens: number, costUSD: number) => ({
    inputTokens,
    outputTokens: 1,
    cacheReadInputTokens: 0,
    cacheCreationInputTokens: 0,
    costUSD,
  });

  test("takes the difference where the binary keeps counting", () => {
    const before = { costUsd: 0.1, models: { m: model(100, 0.1) } };
    const spent = costSince(before, {
      costUsd: 0.3,
      models: { m: model(250, 0.25), n: model(10, 0.05) },
    });
    expect(spent.costUsd).toBe(0.2);
    expect(spent.usage.models.m).toMatchObject({ input_tokens: 150, cost_usd: 0.15 });
    expect(spent.usage.input_tokens).toBe(160);
  });

  test("takes the total where the binary starts at zero", () => {
    const before = { costUsd: 0.5, models: { m: model(500, 0.5) } };
    expect(costSince(before, { costUsd: 0.2, models: { m: model(200, 0.2) } })).toMatchObject({
      costUsd: 0.2,
      usage: { input_tokens: 200 },
    });
    expect(costSince(undefined, { costUsd: 0.2, models: {} }).costUsd).toBe(0.2);
  });
});
