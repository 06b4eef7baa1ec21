import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentRunner } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { containersOf, dockerStage, runContained } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { agentFor, logOf, runJob, stateDirOf } from "../support/job.ts";
import { initOf, obey, toolResults } from "../support/runtime.ts";

const engine = await testEngine();

const runtimes = ["sdk", "cli", "{ type: cli, stream: session-file }"];

describe.each(runtimes)("runtime: %s", (runtime) => {
  const yaml = `runtime: ${runtime}`;

  test("a job in a container works in its workspace, and the container is gone", async () => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const { job } = await runContained(on, {
      yaml,
      prompt: obey(["Bash", { command: "id -u; pwd; echo made > made.txt" }]),
    });
    expect(job.outcome).toMatchObject({ code: "success" });
    expect(job).toMatchObject({ place: "docker", credential: "api_key", warnings: [] });
    expect(job.container_id).toMatch(/^[0-9a-f]{64}$/);
    expect(job.claude_version).toMatch(/^2\.1\./);
    expect(readFileSync(join(on.workspace, "made.txt"), "utf8")).toBe("made\n");
    expect(readdirSync(on.workspace)).toEqual(["made.txt"]);
    expect(containersOf(engine, job.id)).toEqual([]);
    const messages = await logOf(job);
    expect(initOf(messages)?.cwd).toBe("/workspace");
    expect(toolResults(messages).join()).toContain("1000\\n/workspace");
  });

  test("sessions are resumed and forked, with container paths, apart from the host's", async () => {
    const on = await dockerStage(engine, { script: { rules: [{ reply: "Noted." }] } });
    const stateDir = stateDirOf(on);
    const agent = agentFor(on, `${yaml}\ndocker: { enabled: true }`);
    const runner = new AgentRunner({ agent, stateDir, environment: on.env });
    const first = await runner.run("remember ROSE");
    const second = await runner.resume(first.sessionId, "again");
    const branch = await runner.fork(first.sessionId, "aside");
    expect([first, second, branch].map(({ job }) => job.outcome?.code)).toEqual(
      Array(3).fill("success"),
    );
    expect(second.sessionId).toBe(first.sessionId);
    expect(branch.sessionId).not.toBe(first.sessionId);
    const requests = on.rehearsal.ledger.main.map(({ body }) => JSON.stringify(body));
    expect(requests.at(-1)).toContain("remember ROSE");

    const folder = join(stateDir, "docker-sessions/one/projects/-workspace");
    expect(readdirSync(folder).filter((name) => name.endsWith(".jsonl"))).toHaveLength(2);
    expect(existsSync(join(on.configDir, "projects"))).toBe(false);
    const { job: refused } = await runJob(on, { yaml, resume: first.sessionId });
    expect(refused.outcome).toMatchObject({ code: "session_missing" });
    expect(refused.outcome?.message).toContain("docker");
  });
});

test("a missing image, engine or credential is told before anything is run", async () => {
  const on = await dockerStage(engine);
  const noImage = await runContained(on, { yaml: "docker: { enabled: true, image: nobody/has }" });
  expect(noImage.job.outcome).toMatchObject({ code: "image_missing" });
  expect(noImage.job.outcome?.hint).toContain("herdctl docker build");
  const noEngine = await runContained(on, { env: { DOCKER_HOST: `unix://${on.home}/none.sock` } });
  expect(noEngine.job.outcome).toMatchObject({ code: "docker_unavailable" });
  const noKey = await runContained(on, { env: { ANTHROPIC_API_KEY: "" } });
  expect(noKey.job.outcome).toMatchObject({ code: "auth_failed" });
  expect(noKey.job.outcome?.hint).toMatch(/auth: env.*auth: mount/);
  expect(on.rehearsal.ledger.entries).toEqual([]);
});

test("the key is with the gateway: the container has none, nor anything else of this machine", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const key = `sk-ant-${"c".repeat(40)}`;
  const { job } = await runContained(on, {
    env: { ANTHROPIC_API_KEY: key, SSH_AUTH_SOCK: "/run/agent.sock", AWS_SECRET: "of-the-machine" },
    yaml: "env: { GREETING: hello }\ndocker: { enabled: true, env: { INNER: only } }",
    prompt: obey(["Bash", { command: "env | sort; echo PATH=$PATH HOME=$HOME" }]),
  });
  const seen = toolResults(await logOf(job)).join();
  expect(seen).toContain("HOME=/home/agent");
  expect(seen).toContain("GREETING=hello");
  expect(seen).toContain("INNER=only");
  for (const secret of [key, "of-the-machine", "agent.sock", on.home])
    expect(seen).not.toContain(secret);
  expect(on.rehearsal.ledger.main[0]?.key).toMatchObject({ value: key });
});
