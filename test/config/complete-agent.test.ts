import { completeAgent, completeDocker, type ResolvedAgentConfig } from "@herdctl/config";
import { ProblemsError } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { agentOf, inlineAgent, loadTestFleet } from "../support/fleet-config.ts";

const everything = `
working_directory: ./repo
runtime: { type: cli }
permission_mode: plan
timeouts: { start: 5s, stall: 1m }
retry: { backoff: 200ms }
budget: { daily_usd: 3 }
max_log_size: 1m
mcp_servers:
  echo: { command: node, args: [echo.mjs], env: { A: b } }
  far: { type: http, url: "https://mcp.example.com", headers: { a: b } }
schedules:
  daily: { type: cron, cron: "0 6 * * *", timezone: Europe/Berlin, prompt: hi }
  often: { type: interval, every: 5m, prompt: hi }
hooks: { after_run: [{ type: shell, command: "echo done", outcomes: [success] }] }
docker: { enabled: true, memory: 1g, volumes: ["./cache:/cache:rw", "named:/data"], egress: [npm], user: "1000" }
`;

test("leaves an agent of a fleet as it is", () => {
  const agent = agentOf(loadTestFleet(inlineAgent(everything)), "one");
  expect(completeAgent(agent)).toEqual(agent);
});

test("gives an agent with a name only every default of a fleet file", () => {
  const agent = completeAgent({ name: "one" });
  const {
    file: _f,
    fleet_dir: _d,
    working_directory,
    ...loaded
  } = agentOf(loadTestFleet(inlineAgent("max_turns: 3")), "one");
  expect(agent).toMatchObject({ ...loaded, max_turns: undefined });
  expect(agent.working_directory).toEqual({ path: process.cwd() });
  expect(Object.keys(working_directory)).toEqual(["path"]);
});

const changes: [string, Partial<ResolvedAgentConfig>, object][] = [
  ["runtime: cli", { runtime: "cli" }, { runtime: { type: "cli", stream: "stdout" } }],
  ["no docker", { docker: undefined }, { docker: { enabled: false, network: "none" } }],
  ["a short docker", { docker: { enabled: true } }, { docker: { enabled: true, memory: 2 ** 31 } }],
  ["a memory text", { docker: { memory: "1g" } }, { docker: { memory: 2 ** 30 } }],
  ["a duration", { timeouts: { total: "2m" } as never }, { timeouts: { total: 120_000 } }],
  [
    "permissions",
    { permissions: { mode: "plan", allowed_tools: ["Read"], denied_tools: ["Bash"] } },
    { permission_mode: "plan", allowed_tools: ["Read"], denied_tools: ["Bash"] },
  ],
];

test.each(changes)("completes an agent of a fleet that was changed: %s", (_, change, expected) => {
  const agent = agentOf(loadTestFleet(inlineAgent("model: m")), "one");
  expect(completeAgent({ ...agent, ...change })).toMatchObject({ model: "m", ...expected });
});

describe("mistakes", () => {
  const mistakes: [string, object, string][] = [
    ["an unknown key", { permission: "plan" }, "permission"],
    ["an unknown runtime", { runtime: { type: "constructor" } }, "runtime"],
    ["a wrong limit", { docker: { pids_limit: 3 } }, "docker.pids_limit"],
    ["a wrong mode", { permissions: { mode: "all" } }, "permissions.mode"],
    ["a wrong name", { name: "a b" }, "name"],
  ];

  test.each(mistakes)("names the place of %s", (_, change, path) => {
    let problem: unknown;
    try {
      completeAgent(Object.assign({ name: "one" }, change));
    } catch (error) {
      problem = error;
    }
    expect(problem).toBeInstanceOf(ProblemsError);
    expect(problem).toMatchObject({ problems: [expect.objectContaining({ path })] });
  });
});

test("completes the docker block alone", () => {
  expect(completeDocker({ enabled: true, cpus: 1 })).toMatchObject({ cpus: 1, pids_limit: 512 });
  expect(completeDocker(undefined)).toMatchObject({ enabled: false });
});
