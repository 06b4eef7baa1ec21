import type { SetUp } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { judgeVariables } from "../../packages/core/src/doctor/agents/variables.ts";
import { judgeWorkspace } from "../../packages/core/src/doctor/agents/workspace.ts";
import { judgeAnswer } from "../../packages/core/src/doctor/claude/api.ts";
import { judgeBinary } from "../../packages/core/src/doctor/claude/binary.ts";
import { judgeSignIn, signInsOf } from "../../packages/core/src/doctor/claude/sign-in.ts";
import { judgeConfiguration } from "../../packages/core/src/doctor/fleet/configuration.ts";
import { judgePermissions } from "../../packages/core/src/doctor/fleet/permissions.ts";
import { judgePort, type PortFacts } from "../../packages/core/src/doctor/fleet/port.ts";
import { judgeRunning, type LifeFacts } from "../../packages/core/src/doctor/fleet/running.ts";
import { type ClockFacts, judgeClock } from "../../packages/core/src/doctor/machine/clock.ts";
import { judgeDisk } from "../../packages/core/src/doctor/machine/disk.ts";
import { judgeGit } from "../../packages/core/src/doctor/machine/git.ts";
import { judgeNode } from "../../packages/core/src/doctor/machine/node.ts";
import type { RuntimeProblem } from "../../packages/core/src/runner/claude-version.ts";
import { userWith } from "../support/current-user.ts";
import { agentOf, inlineAgent, load, problemsOf } from "../support/fleet.ts";

test.each([
  ["18.20.0", "failed"],
  ["20.18.9", "failed"],
  ["20.19.0", "ok"],
  ["24.1.0", "ok"],
])("Node %s is %s", (version, verdict) => {
  expect(judgeNode(version).verdict).toBe(verdict);
});

test("git is a problem only where an agent has a clone of its own", () => {
  expect(judgeGit("2.39.5", ["one"]).verdict).toBe("ok");
  expect(judgeGit(undefined, []).verdict).toBe("warning");
  expect(judgeGit(undefined, ["one"])).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("one"),
  });
});

const now = new Date("2026-11-16T09:00:00Z");
const clock: ClockFacts = { now, zone: "UTC", given: undefined, jump: 3, skew: undefined };

test.each<[string, Partial<ClockFacts>, string, string]>([
  ["nobody to compare with", {}, "ok", "Time zone UTC."],
  ["as the API's", { skew: 900 }, "ok", "agrees"],
  ["a minute ahead", { skew: 61_000 }, "warning", "61 s ahead of"],
  ["ten minutes behind", { skew: -600_000 }, "failed", "10 min behind"],
  ["set meanwhile", { jump: -30_000 }, "warning", "30 s behind"],
  ["before herdctl was", { now: new Date(0) }, "failed", "cannot be"],
  ["in a zone that is none", { given: "Mars/Base" }, "warning", "Mars/Base"],
  ["in a zone", { given: ":Europe/Berlin", zone: "Europe/Berlin" }, "ok", "Europe/Berlin"],
])("a clock %s", (_, facts, verdict, words) => {
  const found = judgeClock({ ...clock, ...facts });
  expect(found).toMatchObject({ verdict, message: expect.stringContaining(words) });
});

const giga = 1024 ** 3;

test.each([
  [70 * giga, 1e6, "ok"],
  [giga / 2, 1e6, "warning"],
  [giga / 20, 1e6, "failed"],
  [70 * giga, 12, "failed"],
  [70 * giga, undefined, "ok"],
])("a disk with %d bytes and %s files left is %s", (freeBytes, freeFiles, verdict) => {
  const facts = { what: "the state", path: "/srv", freeBytes, freeFiles };
  expect(judgeDisk(facts).verdict).toBe(verdict);
});

describe("claude", () => {
  const found = { kind: "found", path: "/opt/claude", source: "path" } as const;
  const version = { kind: "version", version: "2.1.325" } as const;
  const problem: RuntimeProblem = {
    kind: "problem",
    code: "runtime_missing",
    message: "There is none.",
    hint: "Install it.",
  };
  const onHost = "runtime: cli";
  const contained = "working_directory: /srv\ndocker: { enabled: true }";
  const agents = (yaml: string) => load(inlineAgent(yaml)).fleet.agents;

  test.each([
    ["found", { found, version }, onHost, ["ok"], "/opt/claude"],
    [
      "newer than ours",
      { found, version: { ...version, version: "2.2.0" } },
      onHost,
      ["ok"],
      "newer",
    ],
    ["missing", { found: problem, version: undefined }, onHost, ["failed"], "There is none."],
    ["too old", { found, version: problem }, onHost, ["failed"], "There is none."],
    [
      "missing, and not needed",
      { found: problem, version: undefined },
      contained,
      ["unknown"],
      "image",
    ],
  ])("%s", (_, facts, yaml, verdicts, words) => {
    const findings = judgeBinary({ ...facts, tested: "2.1.325", agents: agents(yaml) });
    expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(findings[0]?.message).toContain(words);
  });

  test("the Agent SDK is missed by agents that run on it", () => {
    const facts = { found, version, tested: undefined };
    expect(judgeBinary({ ...facts, agents: agents("runtime: sdk") })[1]).toMatchObject({
      verdict: "failed",
    });
    expect(judgeBinary({ ...facts, agents: agents(onHost) })[1]).toMatchObject({
      verdict: "warning",
    });
  });
});

test("each credential is named with its agents and where it was set, never shown", () => {
  const { fleet } = load({
    "herdctl.yaml": `version: 1
fleet: { name: test }
agents:
  - { name: one }
  - { name: two }
  - { name: three, runtime: cli, credential: subscription }
`,
  });
  const secrets = {
    ANTHROPIC_API_KEY: "sk-of-somebody",
    CLAUDE_CODE_OAUTH_TOKEN: "oat-of-somebody",
  };
  const env = { ...secrets, HOME: "/nowhere" };
  const real = { CLAUDE_CODE_OAUTH_TOKEN: "oat-of-somebody" };
  const findings = signInsOf(fleet.agents, env).map((one) => judgeSignIn(one, real));
  expect(findings.map(({ verdict, message }) => `${verdict} ${message}`)).toEqual([
    "ok one, two: the API key in ANTHROPIC_API_KEY of `.env`.",
    "ok three: the subscription, by the token in CLAUDE_CODE_OAUTH_TOKEN of the environment.",
  ]);
  expect(JSON.stringify(findings)).not.toMatch(/of-somebody/);
});

test("an agent in a container is not signed in by a subscription that cannot get there", () => {
  const agent = "{ name: four, runtime: cli, docker: { enabled: true }, working_directory: work }";
  const { fleet } = load({
    "herdctl.yaml": `version: 1\nfleet: { name: test }\nagents:\n  - ${agent}\n`,
    "work/readme": "",
  });
  const env = { CLAUDE_CODE_OAUTH_TOKEN: "oat-of-somebody", HOME: "/nowhere" };
  const findings = signInsOf(fleet.agents, env).map((one) => judgeSignIn(one, env));
  expect(findings).toMatchObject([
    { verdict: "failed", message: expect.stringContaining("there is no API key") },
  ]);
});

describe("what the API answers", () => {
  const asked = { variable: "ANTHROPIC_API_KEY", hasProxy: false };
  const answered = (status: number, words?: string) =>
    ({ kind: "answered", host: "api.test", status, words, skew: 0 }) as const;
  const unreachable = { kind: "unreachable", host: "api.test", why: "ENOTFOUND" } as const;

  test.each([
    ["a list", answered(200), asked, "ok"],
    ["that the key is wrong", answered(401, "invalid x-api-key"), asked, "failed"],
    ["that the key may not", answered(403), asked, "failed"],
    ["that it has no list", answered(404), asked, "unknown"],
    ["that it is overloaded", answered(529), asked, "warning"],
    ["nothing", unreachable, asked, "failed"],
    ["something, when no key is shown", answered(404), { ...asked, variable: undefined }, "ok"],
    ["nothing, when no key is shown", unreachable, { ...asked, variable: undefined }, "failed"],
    ["nothing, beside a proxy", unreachable, { variable: undefined, hasProxy: true }, "unknown"],
  ])("%s", (_, answer, how, verdict) => {
    expect(judgeAnswer(answer, how).verdict).toBe(verdict);
  });

  test("a wrong key is named by its variable and in the API's words", () => {
    const { message, hint } = judgeAnswer(answered(401, "invalid x-api-key"), asked);
    expect(message).toBe("api.test refuses the key in ANTHROPIC_API_KEY (401: invalid x-api-key).");
    expect(hint).toContain("ANTHROPIC_API_KEY");
  });
});

test("what is wrong in the configuration is told with its place", () => {
  const problems = problemsOf(inlineAgent("runtime: skd"));
  const wrong: SetUp = { kind: "wrong", file: "/f/herdctl.yaml", problems };
  expect(judgeConfiguration(wrong)).toMatchObject([
    { verdict: "failed", place: expect.stringMatching(/herdctl\.yaml:\d+:\d+$/) },
  ]);
  expect(judgeConfiguration({ kind: "none" })).toMatchObject([{ verdict: "unknown" }]);
  const loaded = load(inlineAgent("runtime: sdk"));
  expect(judgeConfiguration({ kind: "loaded", loaded })).toMatchObject([
    { verdict: "ok", message: expect.stringContaining("1 agent, 0 schedules") },
  ]);
});

test.each([
  ["state", 0o700, 1000, "ok", undefined],
  ["state", 0o755, 1000, "failed", 0o700],
  ["state", 0o750, 1000, "failed", 0o700],
  ["state", 0o700, 1001, "failed", undefined],
  ["secrets", 0o600, 1000, "ok", undefined],
  ["secrets", 0o644, 1000, "warning", 0o600],
  ["configuration", 0o664, 1000, "ok", undefined],
  ["configuration", 0o666, 1000, "failed", 0o644],
  ["configuration", 0o644, 1001, "failed", undefined],
] as const)("%s with the mode %o of user %d is %s", (what, mode, uid, verdict, mended) => {
  const facts = { path: "/srv/x", what, mode, uid, gid: 1000 };
  const [found] = judgePermissions([facts], userWith());
  expect(found?.verdict).toBe(verdict);
  const fix = mended && { kind: "chmod", path: "/srv/x", mode: mended };
  expect(found?.fix).toEqual(fix);
});

test.each([
  ["state", "failed", []],
  ["state", "warning", ["/srv"]],
  ["configuration", "failed", []],
] as const)("root is told of %s that belongs to another user", (what, verdict, safeDirectories) => {
  const facts = { path: "/srv/x", what, mode: 0o700, uid: 1000, gid: 1000 };
  const [found] = judgePermissions([facts], userWith({ uid: 0, name: "root", safeDirectories }));
  expect(found?.verdict).toBe(verdict);
});

const holder = {
  ...{ pid: 12, start_time: "1", boot_id: "b" },
  acquired_at: "2026-11-16T09:00:00.000Z",
};
const life: LifeFacts = { stateDir: "/s", holder: undefined, leftovers: [], answers: false };

test.each<[string, Partial<LifeFacts>, string]>([
  ["runs", { holder, answers: true }, "ok"],
  ["does not answer", { holder }, "warning"],
  ["died", { leftovers: ["herdctl.lock.json"] }, "warning"],
  ["does not run", {}, "ok"],
])("a fleet that %s", (_, facts, verdict) => {
  expect(judgeRunning({ ...life, ...facts }).verdict).toBe(verdict);
});

const port: PortFacts = {
  ...{ host: "127.0.0.1", port: 3232, anyPort: false },
  ...{ obstacle: "EADDRINUSE", listener: undefined, running: undefined },
};
const other = { pid: 99, program: "node", fleetDir: "/srv/other" };
const own = { pid: 12, url: "http://127.0.0.1:3232" };

test.each<[string, Partial<PortFacts>, string, string]>([
  ["free", { obstacle: undefined }, "ok", "is free"],
  ["another's", {}, "failed", "another program"],
  ["another fleet's", { listener: other }, "failed", "process 99 (node, the fleet of /srv/other)"],
  [
    "this fleet's, by its process",
    { listener: { pid: 12, program: "node" }, running: { pid: 12, url: null } },
    "ok",
    "This fleet",
  ],
  ["this fleet's, by its address", { running: own }, "ok", "This fleet"],
  ["taken, where any will do", { anyPort: true }, "ok", "Another one will do"],
  ["for root", { obstacle: "EACCES", port: 80 }, "failed", "may not listen"],
  ["elsewhere", { obstacle: "EADDRNOTAVAIL", host: "192.0.2.1" }, "failed", "no address of this"],
])("a port that is %s", (_, facts, verdict, words) => {
  const found = judgePort({ ...port, ...facts });
  expect(found).toMatchObject({ verdict, message: expect.stringContaining(words) });
});

test("variables that an agent names and nobody has set are told with what they are for", () => {
  const agent = agentOf(
    load(
      inlineAgent(`default_prompt: go
chat: { discord: { token_env: BOT, users: ["1"] }, slack: { token_env: SLACK, app_token_env: APP, users: ["1"] } }
work_source: { type: github, repo: a/b, labels: [x] }
schedules: { hook: { type: webhook, signature: { kind: hmac, header: X-Sign, secret_env: [OLD, NEW] } } }`),
    ),
    "one",
  );
  const missing = (env: Record<string, string>) =>
    judgeVariables(agent, env).map(({ message }) => message.split(" ")[0]);
  expect(missing({})).toEqual(["BOT", "SLACK", "APP", "GITHUB_TOKEN", "OLD", "NEW"]);
  const set = { BOT: "b", SLACK: "s", APP: "a", GITHUB_TOKEN: "g", OLD: "o" };
  expect(missing({ ...set, NEW: " " })).toEqual(["NEW"]);
  expect(missing({ ...set, NEW: "n" })).toEqual([]);
});

test("a workspace is there, is to be cloned, or is a problem of its agent", () => {
  const clone = { repo: "https://me:token@host.test/a.git" };
  const agent = { name: "one", file: "/f.yaml", working_directory: { path: "/w", clone } };
  const cloned = judgeWorkspace(agent, undefined);
  expect(cloned).toMatchObject({ verdict: "ok", message: expect.stringContaining("clones https") });
  expect(cloned.message).not.toContain("token");
  expect(judgeWorkspace(agent, { kind: "ready", path: "/w" }).verdict).toBe("ok");
  const problem = { message: "It is gone.", hint: "Make it." };
  expect(
    judgeWorkspace(agent, { kind: "problem", code: "workspace_missing", ...problem }),
  ).toMatchObject({ verdict: "failed", agent: "one", place: "/f.yaml", ...problem });
});
