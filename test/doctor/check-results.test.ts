import { join } from "node:path";
import type { DoctorTarget } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import type { RuntimeProblem } from "../../packages/core/src/claude/binary.ts";
import { checkVariables, evaluateWorkspace } from "../../packages/core/src/doctor/agents.ts";
import { evaluateAnswer } from "../../packages/core/src/doctor/claude/api.ts";
import {
  evaluateBinary,
  evaluateCredential,
  groupAgentCredentials,
} from "../../packages/core/src/doctor/claude/binary.ts";
import { evaluateDiskQuota } from "../../packages/core/src/doctor/docker.ts";
import { evaluatePermissions } from "../../packages/core/src/doctor/fleet/permissions.ts";
import { evaluatePort, type PortFacts } from "../../packages/core/src/doctor/fleet/port.ts";
import {
  evaluateConfiguration,
  evaluateRunning,
  type FleetStateFacts,
} from "../../packages/core/src/doctor/fleet/running-fleet.ts";
import {
  type ClockFacts,
  evaluateClock,
  evaluateDisk,
  evaluateGit,
  evaluateNodeVersion,
} from "../../packages/core/src/doctor/machine.ts";
import { checkMcpServers } from "../../packages/core/src/doctor/mcp-servers.ts";
import { evaluateSandbox } from "../../packages/core/src/doctor/sandbox.ts";
import { fakeUser } from "../support/fake-user.ts";
import { agentOf, configProblems, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

test.each([
  ["sandbox: {}", "linux", ["bubblewrap"], "failed", /bubblewrap missing: its runs will not start/],
  ["sandbox: { fail_if_unavailable: false }", "linux", ["socat"], "failed", /without a sandbox/],
  ["sandbox: {}", "linux", [], "ok", /run in Claude Code's sandbox/],
  ["sandbox: {}", "darwin", ["bubblewrap"], "ok", /run in Claude Code's sandbox/],
  ["sandbox: { enabled: false }", "linux", ["bubblewrap"], undefined, /^$/],
] as const)("checks the programs of `%s` on %s", (yaml, platform, missing, verdict, message) => {
  const agent = agentOf(loadTestFleet(inlineAgent(yaml)), "one");
  const [finding] = evaluateSandbox(agent, platform, missing);
  expect(finding?.verdict).toBe(verdict);
  expect(finding?.message ?? "").toMatch(message);
});

test.each([
  ["18.20.0", "failed"],
  ["20.18.9", "failed"],
  ["22.13.0", "ok"],
  ["24.1.0", "ok"],
])("reports Node %s as %s", (version, verdict) => {
  expect(evaluateNodeVersion(version).verdict).toBe(verdict);
});

test("requires git only for an agent with a cloned workspace", () => {
  expect(evaluateGit("2.39.5", ["one"]).verdict).toBe("ok");
  expect(evaluateGit(undefined, []).verdict).toBe("warning");
  expect(evaluateGit(undefined, ["one"])).toMatchObject({
    verdict: "failed",
    message: expect.stringContaining("one"),
  });
});

test.each([
  ["xfs", ["rw", "prjquota"], ["one"], "ok", "can be limited by a quota (overlay2 on xfs)"],
  [
    "xfs",
    ["rw"],
    ["one"],
    "warning",
    "(overlay2 on xfs): the total size of files that one can write",
  ],
  ["ext4", ["rw"], ["one", "two"], "warning", "files that one, two can write"],
  ["ext4", ["rw"], [], "ok", "no disk quota (overlay2 on ext4): `docker.disk` limits single files"],
])(
  "evaluates an engine on %s with %j and a writable root of %j as %s",
  (type, options, agents, verdict, message) => {
    const mounts = [{ path: "/var/lib/docker", readOnly: false, type, options }];
    const engine = { Driver: "overlay2", DockerRootDir: "/var/lib/docker" };
    expect(evaluateDiskQuota(engine, mounts, agents)).toMatchObject({
      ...{ name: "engine disk", verdict, message: expect.stringContaining(message) },
    });
  },
);

const now = new Date("2026-11-16T09:00:00Z");
const clock: ClockFacts = {
  now,
  zone: "UTC",
  tzVariable: undefined,
  clockJumpMs: 3,
  apiSkewMs: undefined,
};

test.each<[string, Partial<ClockFacts>, string, string]>([
  ["without a reference", {}, "ok", "Time zone UTC."],
  ["equal to the API's", { apiSkewMs: 900 }, "ok", "agrees"],
  ["a minute ahead", { apiSkewMs: 61_000 }, "warning", "61 s ahead of"],
  ["ten minutes behind", { apiSkewMs: -600_000 }, "failed", "10 min behind"],
  ["that was set meanwhile", { clockJumpMs: -30_000 }, "warning", "30 s behind"],
  ["before herdctl was released", { now: new Date(0) }, "failed", "which is wrong"],
  ["with an invalid time zone", { tzVariable: "Mars/Base" }, "warning", "Mars/Base"],
  [
    "with a time zone",
    { tzVariable: ":Europe/Berlin", zone: "Europe/Berlin" },
    "ok",
    "Europe/Berlin",
  ],
])("evaluates a clock %s", (_, facts, verdict, words) => {
  const found = evaluateClock({ ...clock, ...facts });
  expect(found).toMatchObject({ verdict, message: expect.stringContaining(words) });
});

const giga = 1024 ** 3;

test.each([
  [70 * giga, 1e6, "ok"],
  [giga / 2, 1e6, "warning"],
  [giga / 20, 1e6, "failed"],
  [70 * giga, 12, "failed"],
  [70 * giga, undefined, "ok"],
])("evaluates a disk with %d bytes and %s files left as %s", (freeBytes, freeFiles, verdict) => {
  const facts = { purpose: "the state", path: "/srv", freeBytes, freeFiles };
  expect(evaluateDisk(facts).verdict).toBe(verdict);
});

describe("claude version", () => {
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
  const agents = (yaml: string) => loadTestFleet(inlineAgent(yaml)).fleet.agents;

  test.each([
    ["found", { found, version }, onHost, ["ok"], "/opt/claude"],
    [
      "newer than the tested ones",
      { found, version: { ...version, version: "2.2.0" } },
      onHost,
      ["ok"],
      "newer",
    ],
    ["missing", { found: problem, version: undefined }, onHost, ["failed"], "There is none."],
    ["too old", { found, version: problem }, onHost, ["failed"], "There is none."],
    [
      "missing and not needed",
      { found: problem, version: undefined },
      contained,
      ["unknown"],
      "image",
    ],
  ])("evaluates a binary that is %s", (_, facts, yaml, verdicts, words) => {
    const findings = evaluateBinary({ ...facts, testedVersion: "2.1.325", agents: agents(yaml) });
    expect(findings.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect(findings[0]?.message).toContain(words);
  });

  test("requires the Agent SDK for agents that run on it", () => {
    const facts = { found, version, testedVersion: undefined };
    expect(evaluateBinary({ ...facts, agents: agents("runtime: sdk") })[1]).toMatchObject({
      verdict: "failed",
    });
    expect(evaluateBinary({ ...facts, agents: agents(onHost) })[1]).toMatchObject({
      verdict: "warning",
    });
  });
});

test("names each credential with its agents and origin, but not its value", () => {
  const { fleet } = loadTestFleet({
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
  const findings = groupAgentCredentials(fleet.agents, env).map((one) =>
    evaluateCredential(one, real),
  );
  expect(findings.map(({ verdict, message }) => `${verdict} ${message}`)).toEqual([
    "ok one, two: the API key in ANTHROPIC_API_KEY from `.env`.",
    "ok three: the subscription, with the token in CLAUDE_CODE_OAUTH_TOKEN from the environment.",
  ]);
  expect(JSON.stringify(findings)).not.toMatch(/of-somebody/);
});

test.each([
  ["none", { verdict: "warning", message: expect.stringContaining("The container can read it") }],
  ["bridge", { verdict: "failed", message: expect.stringContaining("there is no API key") }],
])("reports what network %s means for a subscription in a container", (network, finding) => {
  const docker = `docker: { enabled: true, network: ${network} }`;
  const agent = `{ name: four, runtime: cli, ${docker}, working_directory: work }`;
  const { fleet } = loadTestFleet({
    "herdctl.yaml": `version: 1\nfleet: { name: test }\nagents:\n  - ${agent}\n`,
    "work/readme": "",
  });
  const env = { CLAUDE_CODE_OAUTH_TOKEN: "oat-of-somebody", HOME: "/nowhere" };
  const findings = groupAgentCredentials(fleet.agents, env).map((one) =>
    evaluateCredential(one, env),
  );
  expect(findings).toMatchObject([finding]);
});

describe("answer of the API", () => {
  const asked = { variable: "ANTHROPIC_API_KEY", hasProxy: false };
  const answered = (status: number, words?: string) =>
    ({ kind: "answered", host: "api.test", status, errorMessage: words, clockSkewMs: 0 }) as const;
  const unreachable = { kind: "unreachable", host: "api.test", reason: "ENOTFOUND" } as const;

  test.each([
    ["a list", answered(200), asked, "ok"],
    ["a wrong key", answered(401, "invalid x-api-key"), asked, "failed"],
    ["a key without permission", answered(403), asked, "failed"],
    ["no such list", answered(404), asked, "unknown"],
    ["an overload", answered(529), asked, "warning"],
    ["no answer", unreachable, asked, "failed"],
    ["an answer without a key", answered(404), { ...asked, variable: undefined }, "ok"],
    ["no answer without a key", unreachable, { ...asked, variable: undefined }, "failed"],
    ["no answer behind a proxy", unreachable, { variable: undefined, hasProxy: true }, "unknown"],
  ])("evaluates %s", (_, answer, how, verdict) => {
    expect(evaluateAnswer(answer, how).verdict).toBe(verdict);
  });

  test("names a wrong key by its variable with the API's message", () => {
    const { message, hint } = evaluateAnswer(answered(401, "invalid x-api-key"), asked);
    expect(message).toBe("api.test rejects the key in ANTHROPIC_API_KEY (401: invalid x-api-key).");
    expect(hint).toContain("ANTHROPIC_API_KEY");
  });
});

test("reports configuration problems with their position", () => {
  const problems = configProblems(inlineAgent("runtime: skd"));
  const wrong: DoctorTarget = { kind: "wrong", file: "/f/herdctl.yaml", problems };
  expect(evaluateConfiguration(wrong)).toMatchObject([
    { verdict: "failed", place: expect.stringMatching(/herdctl\.yaml:\d+:\d+$/) },
  ]);
  expect(evaluateConfiguration({ kind: "none" })).toMatchObject([{ verdict: "unknown" }]);
  const loaded = loadTestFleet(inlineAgent("runtime: sdk"));
  expect(evaluateConfiguration({ kind: "loaded", loaded })).toMatchObject([
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
] as const)(
  "evaluates %s with the mode %o of user %d as %s",
  (what, mode, uid, verdict, fixedMode) => {
    const facts = { path: "/srv/x", kind: what, mode, uid, gid: 1000 };
    const [found] = evaluatePermissions([facts], fakeUser());
    expect(found?.verdict).toBe(verdict);
    const fix = fixedMode && { kind: "chmod", path: "/srv/x", mode: fixedMode };
    expect(found?.fix).toEqual(fix);
  },
);

test.each([
  ["state", "failed", []],
  ["state", "warning", ["/srv"]],
  ["configuration", "failed", []],
] as const)("reports %s of another user to root", (what, verdict, safeDirectories) => {
  const facts = { path: "/srv/x", kind: what, mode: 0o700, uid: 1000, gid: 1000 };
  const [found] = evaluatePermissions([facts], fakeUser({ uid: 0, name: "root", safeDirectories }));
  expect(found?.verdict).toBe(verdict);
});

const holder = {
  ...{ pid: 12, start_time: "1", boot_id: "b" },
  acquired_at: "2026-11-16T09:00:00.000Z",
};
const runningFleetFacts: FleetStateFacts = {
  stateDir: "/s",
  holder: undefined,
  staleFiles: [],
  isAnswering: false,
};

test.each<[string, Partial<FleetStateFacts>, string]>([
  ["runs", { holder, isAnswering: true }, "ok"],
  ["does not answer", { holder }, "warning"],
  ["died", { staleFiles: ["herdctl.lock.json"] }, "warning"],
  ["does not run", {}, "ok"],
])("evaluates a fleet that %s", (_, facts, verdict) => {
  expect(evaluateRunning({ ...runningFleetFacts, ...facts }).verdict).toBe(verdict);
});

const port: PortFacts = {
  ...{ host: "127.0.0.1", port: 3232, isAnyPortAllowed: false },
  ...{ bindError: "EADDRINUSE", listener: undefined, running: undefined },
};
const otherFleet = { pid: 99, program: "node", fleetDir: "/srv/other" };
const ownFleet = { pid: 12, url: "http://127.0.0.1:3232" };

test.each<[string, Partial<PortFacts>, string, string]>([
  ["free", { bindError: undefined }, "ok", "is free"],
  ["another program's", {}, "failed", "another program"],
  [
    "another fleet's",
    { listener: otherFleet },
    "failed",
    "process 99 (node, the fleet of /srv/other)",
  ],
  [
    "this fleet's, by its process",
    { listener: { pid: 12, program: "node" }, running: { pid: 12, url: null } },
    "ok",
    "This fleet",
  ],
  ["this fleet's, by its address", { running: ownFleet }, "ok", "This fleet"],
  ["taken, when any port may be used", { isAnyPortAllowed: true }, "ok", "will use another port"],
  ["reserved for root", { bindError: "EACCES", port: 80 }, "failed", "not permitted to listen"],
  [
    "on an address of another machine",
    { bindError: "EADDRNOTAVAIL", host: "192.0.2.1" },
    "failed",
    "not an address of this",
  ],
])("evaluates a port that is %s", (_, facts, verdict, words) => {
  const found = evaluatePort({ ...port, ...facts });
  expect(found).toMatchObject({ verdict, message: expect.stringContaining(words) });
});

test("names unset variables of an agent with their purpose", () => {
  const agent = agentOf(
    loadTestFleet(
      inlineAgent(`default_prompt: go
chat: { discord: { token_env: BOT, users: ["1"] }, slack: { token_env: SLACK, app_token_env: APP, users: ["1"] } }
work_source: { type: github, repo: a/b, labels: [x] }
schedules: { hook: { type: webhook, signature: { kind: hmac, header: X-Sign, secret_env: [OLD, NEW] } } }`),
    ),
    "one",
  );
  const missing = (env: Record<string, string>) =>
    checkVariables(agent, env).map(({ message }) => message.split(" ")[0]);
  expect(missing({})).toEqual(["BOT", "SLACK", "APP", "GITHUB_TOKEN", "OLD", "NEW"]);
  const set = { BOT: "b", SLACK: "s", APP: "a", GITHUB_TOKEN: "g", OLD: "o" };
  expect(missing({ ...set, NEW: " " })).toEqual(["NEW"]);
  expect(missing({ ...set, NEW: "n" })).toEqual([]);
});

test("accepts an existing or cloned workspace and reports a missing one", () => {
  const clone = { repo: "https://me:token@host.test/a.git" };
  const agent = { name: "one", file: "/f.yaml", working_directory: { path: "/w", clone } };
  const cloned = evaluateWorkspace(agent, undefined);
  expect(cloned).toMatchObject({ verdict: "ok", message: expect.stringContaining("clones https") });
  expect(cloned.message).not.toContain("token");
  expect(evaluateWorkspace(agent, { kind: "ready", path: "/w" }).verdict).toBe("ok");
  const problem = { message: "It is gone.", hint: "Make it." };
  expect(
    evaluateWorkspace(agent, { kind: "problem", code: "workspace_missing", ...problem }),
  ).toMatchObject({ verdict: "failed", agent: "one", place: "/f.yaml", ...problem });
});

test("starts each MCP server once and names those that fail", async () => {
  const rich = join(import.meta.dirname, "../runtimes/programs/mcp-rich.mjs");
  const loaded = loadTestFleet({
    "herdctl.yaml": `version: 1
defaults:
  mcp_servers:
    rich: { command: node, args: ["${rich}"] }
    broken: { command: node, args: [-e, "console.error('no database'); process.exit(3)"] }
agents:
  - { name: one, allowed_tools: [mcp__broken] }
  - { name: two }
`,
  });
  const findings = await checkMcpServers(loaded.fleet.agents, {
    environment: process.env,
    signal: new AbortController().signal,
  });
  expect(findings.map(({ agent, verdict, message }) => [agent, verdict, message])).toEqual([
    ["one", "ok", expect.stringMatching(/^rich starts and offers \d+ tools\.$/)],
    ["one", "failed", expect.stringMatching(/^broken does not start: .*no database. Jobs end/)],
    ["two", "ok", expect.stringMatching(/^rich starts/)],
    ["two", "warning", expect.stringMatching(/no database. Jobs run without its tools.$/)],
  ]);
});
