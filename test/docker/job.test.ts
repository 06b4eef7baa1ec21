import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentRunner } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import {
  costPerCallUsd,
  directCalls,
  model,
  scriptForCommand,
} from "../spending/api-call-scripts.ts";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  containersOfJob,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { loadAgent, readJobMessages, runJob, stateDirOf } from "../support/run-job.ts";
import { initOf, toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

const runtimes = ["sdk", "cli", "{ type: cli, stream: session-file }"];

describe.each(runtimes)("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}`;

  test("works in the workspace and removes the container", async () => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const { job } = await runJobInContainer(harness, {
      yaml,
      prompt: toolCallPrompt(["Bash", { command: "id -u; pwd; echo made > made.txt" }]),
    });
    expect(job.outcome).toMatchObject({ code: "success" });
    expect(job).toMatchObject({ session_home: "docker", credential: "api_key", warnings: [] });
    expect(job.container_id).toMatch(/^[0-9a-f]{64}$/);
    expect(job.claude_version).toMatch(/^2\.1\./);
    expect(readFileSync(join(harness.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(readdirSync(harness.workspace)).toEqual(["made.txt"]);
    expect(containersOfJob(engine, job.id)).toEqual([]);
    const messages = await readJobMessages(job);
    expect(initOf(messages)?.cwd).toBe("/workspace");
    expect(toolResultTexts(messages).join()).toContain("1000\\n/workspace");
  });

  test("resumes and forks sessions with container paths, apart from the host's", async () => {
    const harness = await startDockerHarness(engine, { script: { rules: [{ reply: "Noted." }] } });
    const stateDir = stateDirOf(harness);
    const agent = loadAgent(harness, `${yaml}\ndocker: { enabled: true }`);
    const runner = new AgentRunner(stateDir, { agent, environment: harness.env });
    const first = await runner.run({ prompt: "remember ROSE" });
    const second = await runner.resume(first.sessionId, "again");
    const branch = await runner.fork(first.sessionId, "aside");
    expect([first, second, branch].map(({ job }) => job?.outcome?.code)).toEqual(
      Array(3).fill("success"),
    );
    expect(second.sessionId).toBe(first.sessionId);
    expect(branch.sessionId).not.toBe(first.sessionId);
    const requests = harness.rehearsal.ledger.main.map(({ body }) => JSON.stringify(body));
    expect(requests.at(-1)).toContain("remember ROSE");

    const folder = join(stateDir, "docker-sessions/one/projects/-workspace");
    expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toHaveLength(2);
    expect(existsSync(join(harness.configDir, "projects"))).toBe(false);
    const { job: refused } = await runJob(harness, { yaml, resume: first.sessionId });
    expect(refused.outcome).toMatchObject({ code: "session_missing" });
    expect(refused.outcome?.message).toContain("docker");
  });
});

test("reports a missing image, engine or credential before running anything", async () => {
  const harness = await startDockerHarness(engine);
  const noImage = await runJobInContainer(harness, {
    yaml: "docker: { enabled: true, image: nobody/has }",
  });
  expect(noImage.job.outcome).toMatchObject({ code: "image_missing" });
  expect(noImage.job.outcome?.hint).toContain("herdctl docker build");
  const noEngine = await runJobInContainer(harness, {
    env: { DOCKER_HOST: `unix://${harness.home}/none.sock` },
  });
  expect(noEngine.job.outcome).toMatchObject({ code: "docker_unavailable" });
  const noKey = await runJobInContainer(harness, { env: { ANTHROPIC_API_KEY: "" } });
  expect(noKey.job.outcome).toMatchObject({ code: "auth_failed" });
  expect(noKey.job.outcome?.hint).toMatch(/auth: env.*auth: mount/);
  expect(harness.rehearsal.ledger.entries).toEqual([]);
});

test.each<[held: string, docker: string, env: Record<string, string>]>([
  ["the gateway holds the key", "", {}],
  ["the container has a subscription token", ", auth: env", { CLAUDE_CODE_OAUTH_TOKEN: "own" }],
])("refuses direct API calls of a tool beyond `max_budget_usd` when %s", async (_, docker, env) => {
  const command = `ANTHROPIC_API_KEY=own; ${directCalls(5)}`;
  const harness = await startDockerHarness(engine, { script: scriptForCommand(command) });
  const limited = `runtime: cli\nmodel: ${model}\nmax_budget_usd: 0.2`;
  const yaml = `docker: { enabled: true${docker} }\n${limited}`;
  const { job } = await runJobInContainer(harness, { yaml, env, prompt: "spend" });
  const { entries } = harness.rehearsal.ledger;
  const calls = entries.filter(({ prompt, usage }) => usage && prompt?.includes("direct call"));
  expect(calls).toHaveLength(2);
  expect(job).toMatchObject({ session_home: "docker", outcome: { code: "budget_exceeded" } });
  expect(job.credential).toBe(docker ? "subscription" : "api_key");
  expect(job.cost_usd).toBeGreaterThanOrEqual(2 * costPerCallUsd);
});

test("keeps the key in the gateway and everything else of the machine out of the container", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const key = `sk-ant-${"c".repeat(40)}`;
  const { job } = await runJobInContainer(harness, {
    env: {
      ANTHROPIC_API_KEY: key,
      LOGNAME: "name-of-the-machine",
      AWS_SECRET: "secret-of-the-machine",
    },
    yaml: "env: { GREETING: hello }\ndocker: { enabled: true, env: { INNER: only } }",
    prompt: toolCallPrompt(["Bash", { command: "env | sort; echo PATH=$PATH HOME=$HOME" }]),
  });
  const seen = toolResultTexts(await readJobMessages(job)).join();
  expect(seen).toContain("HOME=/home/agent");
  expect(seen).toContain("GREETING=hello");
  expect(seen).toContain("INNER=only");
  for (const secret of [key, "of-the-machine", harness.home]) expect(seen).not.toContain(secret);
  expect(harness.rehearsal.ledger.main[0]?.key).toMatchObject({ value: key });
});

test("removes the container of a run that is cancelled or times out", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const stopping = new AbortController();
  const running = runJobInContainer(harness, {
    prompt: toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]),
    signal: stopping.signal,
  });
  await runningContainer(engine, harness);
  stopping.abort();
  const { job } = await running;
  expect(job.outcome?.code).toBe("cancelled");
  expect(containersOfJob(engine, job.id)).toEqual([]);
  const late = await runJobInContainer(harness, {
    yaml: "timeouts: { total: 5s }",
    prompt: toolCallPrompt(["Bash", { command: "trap '' TERM INT; sleep 600" }]),
  });
  expect(late.job.outcome?.code).toBe("timeout");
  expect(containersOfJob(engine, late.job.id)).toEqual([]);
});
