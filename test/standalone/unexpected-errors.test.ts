import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  JobExecutor,
  RunnerError,
  type RunnerOptions,
  type RuntimeInterface,
  runAgent,
  SDKError,
  StateManager,
} from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { waitForExit } from "../cli/run-herdctl.ts";
import { claudeBinary } from "../support/claude-binaries.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { type JobOptions, loadAgent, runJob, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const greeting = { script: { rules: [{ reply: "Good morning." }] } };

/** Checks everything that a run must leave behind, however it ended. */
async function expectSettled(harness: TestHarness, jobId: string) {
  const state = await new StateManager(stateDirOf(harness)).open();
  const job = await state.jobs.get(jobId);
  const holder = { pid: process.pid, start_time: "x", boot_id: "x", job_id: "another" };
  const sessionId = job?.session_id ?? "";
  const lease = await state.sessions.lease(sessionId, holder, new Date(Date.now() + 1000));
  await state.close();
  expect(job).toMatchObject({ id: jobId, status: "failed", waits_for: [] });
  expect(job?.finished_at).not.toBeNull();
  expect(lease).toEqual({ granted: true });
  expect(existsSync(join(stateDirOf(harness), "jobs", jobId, "private"))).toBe(false);
  return job;
}

test.each(["sdk", "cli"])("fails the job when `onMessage` throws, on %s", async (runtime) => {
  const harness = await startHarness(greeting);
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  const thrown = new TypeError("the caller's mistake");
  const onMessage = () => {
    throw thrown;
  };
  const result = await runJob(harness, { yaml: `runtime: ${runtime}`, jobId, onMessage });
  expect(result).toMatchObject({ success: false, error: { jobId, name: "RunnerError" } });
  expect(result.error).toBeInstanceOf(RunnerError);
  expect(result.error).not.toBeInstanceOf(SDKError);
  expect(result.error?.cause).toBe(thrown);
  const job = await expectSettled(harness, jobId);
  expect(job?.outcome?.message).toContain("`onMessage` threw: the caller's mistake");
});

test("resumes a session right after a run whose `onMessage` threw", async () => {
  const harness = await startHarness(greeting);
  const first = await runJob(harness, { yaml: "runtime: cli" });
  const onMessage = () => {
    throw new Error("no");
  };
  await runJob(harness, { yaml: "runtime: cli", resume: first.sessionId, onMessage });
  const again = await runJob(harness, {
    yaml: "runtime: cli\ntimeouts: { total: 20s }",
    resume: first.sessionId,
  });
  expect(again).toMatchObject({ success: true, sessionId: first.sessionId });
});

test("fails the job with an SDKError when `query()` refuses its options", async () => {
  const harness = await startHarness(greeting);
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  const model = "claude-sonnet-5";
  const agent = { ...loadAgent(harness, "runtime: sdk"), model, fallback_model: model };
  const result = await runJob(harness, { agent, jobId });
  expect(result.error).toBeInstanceOf(SDKError);
  expect(result.error).toMatchObject({ jobId, cause: expect.any(Error) });
  const job = await expectSettled(harness, jobId);
  expect(job?.outcome).toMatchObject({ code: "runtime_crashed" });
  expect(job?.outcome?.message).toMatch(/fallback/i);
});

test("reports a runtime that throws, and closes its gateway", async () => {
  const harness = await startHarness();
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  mkdirSync(join(stateDirOf(harness), "jobs", jobId), { recursive: true });
  let socket = "";
  // biome-ignore lint/correctness/useYield: it throws before its first message
  const execute: RuntimeInterface["execute"] = async function* ({ env }) {
    socket = env?.ANTHROPIC_UNIX_SOCKET ?? "";
    expect(existsSync(socket)).toBe(true);
    throw new Error("out of order");
  };
  const executor = new JobExecutor(
    { execute },
    { stateDir: stateDirOf(harness), environment: harness.env },
  );
  const errors: unknown[] = [];
  const report = await executor.execute(
    {
      jobId,
      attempt: 1,
      agent: loadAgent(harness),
      prompt: "hello",
      place: "sdk",
      cwd: harness.workspace,
      session: { kind: "fresh", sessionId: randomUUID() },
      configDir: harness.configDir,
      claude: { path: "/nowhere/claude", version: null },
      partialMessages: false,
    },
    { onError: (error) => errors.push(error) },
    new AbortController().signal,
  );
  expect(report.outcome).toMatchObject({ code: "runtime_crashed" });
  expect(report.outcome.message).toContain("out of order");
  expect(errors).toEqual([expect.objectContaining({ message: "out of order" })]);
  expect(existsSync(socket)).toBe(false);
});

const failingCallbacks: [string, Partial<JobOptions>][] = [
  [
    "throws",
    {
      askPerson: () => {
        throw new Error("no person");
      },
    },
  ],
  ["rejects", { askPerson: () => Promise.reject(new Error("no person")) }],
];

test.each(failingCallbacks)("denies the tool when `askPerson` %s", async (_, callbacks) => {
  const harness = await startHarness({ mode: "obedient" });
  const result = await runJob(harness, {
    yaml: "runtime: cli\npermission_mode: default\ntimeouts: { total: 20s }",
    prompt: toolCallPrompt(["Bash", { command: "touch made" }]),
    ...callbacks,
  });
  expect(result.job?.outcome).toMatchObject({ code: "finished_with_denials" });
  expect(existsSync(join(harness.workspace, "made"))).toBe(false);
});

const mistakes: [string, Partial<RunnerOptions>, RegExp][] = [
  ["an empty prompt", { prompt: " " }, /no prompt/],
  ["a job id with a slash", { jobId: "../evil" }, /cannot be the id/],
  ["`fork` without `resume`", { fork: true }, /`fork` needs the session/],
  ["an unknown schedule", { schedule: "nightly" }, /no schedule `nightly`/],
];

test.each(mistakes)("returns %s as a RunnerError", async (_, options, message) => {
  const harness = await startHarness();
  const result = await runAgent({
    agent: loadAgent(harness),
    prompt: "hello",
    jobId: "job-test-mistake",
    stateDir: stateDirOf(harness),
    environment: harness.env,
    ...options,
  });
  expect(result).toMatchObject({ success: false, sessionId: "", error: { name: "RunnerError" } });
  expect(result.error?.message).toMatch(message);
  expect(result.error?.jobId).toBe(options.jobId ?? "job-test-mistake");
  expect(harness.rehearsal.ledger.entries).toEqual([]);
});

test("lets a program exit whose `onMessage` threw", async () => {
  const { env, home, workspace } = await startHarness(greeting);
  const program = join(import.meta.dirname, "programs/throwing-callback.mjs");
  const args = [program, join(home, "state"), workspace, claudeBinary("325")];
  const result = await waitForExit(spawn(process.execPath, args, { env, timeout: 30_000 }));
  expect({ ...result, stdout: JSON.parse(result.stdout) }).toEqual({
    code: 0,
    stderr: "",
    stdout: { success: false, name: "RunnerError", cause: "the caller's mistake" },
  });
});

describe("in a fleet", () => {
  const agents = "  - { name: one, runtime: sdk, retry: { max_attempts: 1 } }";
  const request = { agent: "one", prompt: "hello" };

  test("finishes jobs although listeners throw and hooks fail", async () => {
    const harness = await startHarness(greeting);
    const hook = 'hooks: { after_run: [{ type: shell, command: "exit 7" }] }';
    const yaml = `  - { name: one, runtime: sdk, ${hook} }`;
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, yaml));
    fleet.on("job:started", () => {
      throw new Error("the listener's mistake");
    });
    const { job } = await fleet.jobs.trigger(request);
    expect(await fleet.jobs.wait(job.id)).toMatchObject({ outcome: { code: "success" } });
    const { session_id } = await fleet.jobs.wait(job.id);
    const more = await fleet.sessions.resume(session_id ?? "", "again");
    expect(await fleet.jobs.wait(more.job.id)).toMatchObject({
      outcome: { code: "success" },
      session_id,
    });
  });

  test("settles a job whose runner fails unexpectedly", async () => {
    const harness = await startHarness(greeting);
    const file = writeFleetFile(harness, agents);
    const fleet = await startFleetInProcess(harness, file);
    await fleet.agents.pause("one");
    const { job } = await fleet.jobs.trigger(request);
    mkdirSync(join(file, "..", ".herdctl/jobs", job.id, "output.jsonl"), { recursive: true });
    await fleet.agents.resume("one");
    expect(await fleet.jobs.wait(job.id)).toMatchObject({
      status: "failed",
      outcome: { code: "runtime_crashed" },
    });
  });
});
