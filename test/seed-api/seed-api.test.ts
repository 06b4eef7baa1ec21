import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
  AgentConfigSchema,
  AgentRunner,
  appendJobOutput,
  ContainerRunner,
  createJob,
  DockerSchema,
  McpServerSchema,
  PermissionsSchema,
  type ResolvedAgentConfig,
  RunnerError,
  RuntimeFactory,
  runAgent,
  SDKError,
  type SDKMessage,
  SDKRuntime,
  StateManager,
  saveSessionInfo,
  updateJob,
} from "@herdctl/core";
import { expect, onTestFinished, test, vi } from "vitest";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { stateDirOf } from "../support/run-job.ts";
import { testSubset } from "../support/test-subset.ts";
import * as seed from "./public-api.ts";
import { createBoth, noOptions, StateDirectories, wrap } from "./runtime-factory.ts";

const chatty = {
  script: {
    rules: [{ match: { prompt: "More" }, reply: "And pears." }, { reply: "There are apples." }],
  },
};

/** The API of the seed documents finds `claude` and the credential in the environment of the program. */
async function startProgram(): Promise<TestHarness> {
  const harness = await startHarness(chatty);
  onTestFinished(() => void vi.unstubAllEnvs());
  const claude = { PATH: `${join(claudeBinary("325"), "..")}:${process.env.PATH}` };
  for (const [name, value] of Object.entries({ ...harness.env, ...claude }))
    vi.stubEnv(name, value);
  return harness;
}

function agentIn(harness: TestHarness, runtime: ResolvedAgentConfig["runtime"]) {
  const working_directory = harness.workspace;
  return { name: "one", runtime, working_directory, permissions: { mode: "plan" as const } };
}

const runtimes = testSubset(["sdk", "cli", { type: "cli" }] as const, 2);

test.each(runtimes)("runs, resumes and forks with AgentRunner on %j", async (runtime) => {
  const harness = await startProgram();
  const runner = new AgentRunner(stateDirOf(harness));
  const agent = agentIn(harness, runtime);
  const result: seed.RunnerResult = await runner.run({ agent, prompt: "What?", jobId: "job-one" });
  expect(result).toMatchObject({ success: true, summary: "There are apples." });
  const resumed = await runner.resume(result.sessionId, "More?");
  expect(resumed).toMatchObject({ success: true, summary: "And pears." });
  expect(resumed.sessionId).toBe(result.sessionId);
  const forked = await runner.fork(result.sessionId, "More?");
  expect(forked.success).toBe(true);
  expect(forked.sessionId).not.toBe(result.sessionId);
});

test("runs the recorded job of createJob under its id, with its state on record", async () => {
  const harness = await startProgram();
  const stateDir = stateDirOf(harness);
  const options = { agent: agentIn(harness, "cli"), prompt: "What?", stateDir };
  const { id: jobId } = await createJob(stateDir, { agent: "one", prompt: "What?" });
  const { success, sessionId } = await runAgent({ ...options, jobId });
  expect(success).toBe(true);
  const state = await new StateManager(stateDir).initialize();
  const job = await state.jobs.get(jobId);
  expect(job).toMatchObject({ status: "completed", session_id: sessionId, attempts: 1 });
  expect(await state.sessions.get(sessionId)).toMatchObject({ agent: "one", job_id: jobId });
  await state.close();
  const types = readFileSync(join(stateDir, "jobs", jobId, "output.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect([types[0], types.at(-1)]).toEqual(["system", "result"]);

  const again = await runAgent({ ...options, jobId });
  expect(again.error).toBeInstanceOf(RunnerError);
  expect(again.error?.message).toContain("it is completed");
  const { id: other } = await createJob(stateDir, { agent: "one", prompt: "Else?" });
  const different = await runAgent({ ...options, jobId: other });
  expect(different.error?.message).toContain("it has another prompt");
});

test("counts a recorded job once for the agent's budget", async () => {
  const harness = await startProgram();
  const stateDir = stateDirOf(harness);
  const agent = { ...agentIn(harness, "cli"), budget: { daily_jobs: 1 } };
  const first = await createJob(stateDir, { agent: "one", prompt: "What?" });
  const run = { agent, prompt: "What?", stateDir };
  expect(await runAgent({ ...run, jobId: first.id })).toMatchObject({ success: true });
  const second = await createJob(stateDir, { agent: "one", prompt: "What?" });
  const refused = await runAgent({ ...run, jobId: second.id });
  expect(refused).toMatchObject({ success: false, job: { id: second.id, status: "skipped" } });
  expect(refused.error?.outcome?.code).toBe("budget_exceeded");
});

test("records a run step by step with the state functions", async () => {
  const stateDir = stateDirOf(await startProgram());
  const job = await createJob(stateDir, { agent: "one", prompt: "What?" });
  await updateJob(stateDir, job.id, { status: "running" });
  await appendJobOutput(stateDir, job.id, { type: "assistant" });
  const info = { session_id: "s-1", agent: "one", session_home: "cli" as const, cwd: "/" };
  expect(await saveSessionInfo(stateDir, info)).toMatchObject({ session_id: "s-1" });
});

test.each(["sdk", "cli"] as const)("executes a prompt with only an agent on %s", async (type) => {
  const harness = await startProgram();
  const runtime = RuntimeFactory.create({ name: "one", runtime: type });
  const messages: SDKMessage[] = [];
  for await (const message of runtime.execute({ prompt: "What?", agent: agentIn(harness, type) }))
    messages.push(message);
  expect(messages[0]).toMatchObject({ type: "system", subtype: "init", cwd: harness.workspace });
  expect(messages.at(-1)).toMatchObject({ type: "result", result: "There are apples." });
  // The key stays in the gateway, as in a job.
  expect(harness.rehearsal.ledger.main[0]?.key?.value).toBe(harness.env.ANTHROPIC_API_KEY);
});

test("reports a failed run as an SDKError with the message of the SDK", async () => {
  const harness = await startHarness({ script: { rules: [{ fault: { status: 401 } }] } });
  const agent = agentIn(harness, "sdk");
  const environment = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const stateDir = stateDirOf(harness);
  const claudePath = claudeBinary("325");
  const result = await runAgent({ agent, prompt: "What?", stateDir, environment, claudePath });
  expect(result.success).toBe(false);
  expect(result.error).toBeInstanceOf(SDKError);
  expect(result.error?.jobId).toMatch(/^job-/);
});

test("constructs errors like the seed documents", () => {
  const cause = new Error("inner");
  const ours = new RunnerError("outer", "job-1", cause);
  const theirs = new seed.RunnerError("outer", "job-1", cause);
  for (const error of [ours, theirs])
    expect({ ...error, cause: error.cause, name: error.name }).toMatchObject({
      ...{ jobId: "job-1", cause, name: "RunnerError" },
    });
  const sdk = new SDKError("outer", "job-1", { type: "result" });
  expect(sdk).toMatchObject({ name: "SDKError", sdkMessage: { type: "result" } });
  expect(sdk).toBeInstanceOf(RunnerError);
});

test("creates the runtimes of the seed's examples", () => {
  const { runtime, dockerRuntime } = createBoth(
    { name: "one" },
    { name: "two", runtime: "cli", docker: { enabled: true } },
  );
  expect(runtime).toBeInstanceOf(SDKRuntime);
  expect(dockerRuntime).toBeInstanceOf(ContainerRunner);
  const wrapped = wrap(runtime, { name: "two", docker: { enabled: true } }, noOptions);
  expect(wrapped).toEqual({ runtimeType: "sdk", runtime: expect.any(ContainerRunner) });
  expect(() =>
    RuntimeFactory.create({ name: "one", runtime: Object.assign({ type: "cloud" }) }),
  ).toThrow("Unknown runtime type: cloud");
});

test("creates docker-sessions when the state is initialized", async () => {
  const stateDir = stateDirOf(await startProgram());
  const state = await new StateManager(stateDir).initialize();
  expect(state.dockerSessionsDir).toBe(new StateDirectories(stateDir).dockerSessionsDir);
  expect(existsSync(state.dockerSessionsDir)).toBe(true);
  await state.close();
});

test("parses the configuration of the seed documents", () => {
  expect(PermissionsSchema.parse({ mode: "plan", allowed_tools: ["Read"] })).toEqual({
    ...{ mode: "plan", allowed_tools: ["Read"], denied_tools: [] },
  });
  expect(DockerSchema.parse({ enabled: true })).toMatchObject({ memory: 2 ** 31, network: "none" });
  const servers = {
    posthog: { type: "http", url: "https://your-posthog-mcp.com" },
    filesystem: {
      command: "npx",
      args: ["-y", "@modelcontextprotocol/server-filesystem", "/path"],
    },
  };
  for (const server of Object.values(servers))
    expect(McpServerSchema.parse(server)).toMatchObject(server);
  expect(AgentConfigSchema.parse({ name: "one", mcp_servers: servers })).toMatchObject({
    runtime: { type: "sdk" },
    mcp_servers: servers,
  });
});
