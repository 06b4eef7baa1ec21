import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectToRunner } from "../../packages/core/src/jobs/attempts/runner-connection.ts";
import { claimAttempt } from "../../packages/core/src/runner/contract/paths.ts";
import { inspectRunner } from "../../packages/core/src/runner/recovery/collect-report.ts";
import { startHarness } from "../support/harness.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import {
  type AssignedRun,
  assignRun,
  createRunnerPool,
  isRunning,
  readLoggedMessages,
  readRunReport,
  waitUntil,
} from "./runner-harness.ts";

const testPath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Assigns the task in a fleet process that is then killed; returns the runner's pid. */
async function assignAndExit(task: AssignedRun, folder: string): Promise<number> {
  const file = join(folder, "assignment.json");
  writeFileSync(file, JSON.stringify(task.assignment));
  const loader = testPath("../store/programs/typescript-loader.mjs");
  const program = testPath("./programs/start-runner.ts");
  const parent = spawn(process.execPath, ["--import", loader, program, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = await once(parent.stdout, "data");
  parent.kill("SIGKILL");
  await once(parent, "exit");
  return Number(String(pid));
}

/** On a busy machine a runner needs a while until it listens. */
const waitOptions = { timeoutMs: 30_000 };

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("completes a job after the fleet that started it was killed", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const prompt = toolCallPrompt([
      "Bash",
      { command: "echo begun >> log; sleep 1; echo done >> log" },
    ]);
    const task = await assignRun(harness, { yaml: `runtime: ${runtime}`, prompt });
    const pid = await assignAndExit(task, harness.home);

    await waitUntil(() => existsSync(join(harness.workspace, "log")));
    expect(await inspectRunner(task.jobDir, 1)).toMatchObject({ kind: "alive", identity: { pid } });
    const report = await waitUntil(() => readRunReport(task));
    expect(report.outcome.code).toBe("success");
    expect(readFileSync(join(harness.workspace, "log"), "utf8")).toBe("begun\ndone\n");
    expect(harness.rehearsal.ledger.main).toHaveLength(2);

    await waitUntil(() => !isRunning(pid));
    expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "dead" });
    const left = ["outcome.json", "output.jsonl", "runner-1.json", "spend-1.jsonl", "stderr.log"];
    expect(readdirSync(task.jobDir).sort()).toEqual(left);
    for (const name of left) expect(statSync(join(task.jobDir, name)).mode & 0o777).toBe(0o600);
  });

  test("sends a question to all connections, also later ones, and counts the first answer", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const task = await assignRun(harness, {
      yaml: `runtime: ${runtime}\npermission_mode: default`,
      prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
    });
    const { exited } = createRunnerPool().take(task.assignment);
    const first = await connectToRunner(task.jobDir, waitOptions);
    const [asked] = await once(first, "approval");
    expect(asked).toMatchObject({ tool: "Bash", input: { command: "touch asked" } });

    const second = await connectToRunner(task.jobDir, waitOptions);
    const [again] = await once(second, "approval");
    expect(again).toEqual(asked);
    const withdrawn = once(first, "withdrawn");
    second.answer(again.request_id, { behavior: "allow", updatedInput: {} });
    expect((await withdrawn)[0]).toMatchObject({ request_id: asked.request_id, why: "answered" });
    first.answer(asked.request_id, { behavior: "deny", message: "too late" });

    await Promise.all([once(first, "closed"), once(second, "closed"), exited]);
    expect((await readRunReport(task))?.outcome.code).toBe("success");
    expect(readdirSync(harness.workspace)).toEqual(["asked"]);
  });

  test("closes every connection after it has recorded the outcome", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const task = await assignRun(harness, { yaml: `runtime: ${runtime}`, prompt: "hello" });
    const { exited } = createRunnerPool().take(task.assignment);
    const connections = await Promise.all(
      [1, 2].map(() => connectToRunner(task.jobDir, waitOptions)),
    );
    const reports = await Promise.all(
      connections.map(async (connection) => {
        await once(connection, "closed");
        return readRunReport(task);
      }),
    );
    const recorded = { attempt: 1, outcome: { code: "success" } };
    expect(reports).toMatchObject([recorded, recorded]);
    await exited;
  });

  test("ends its run when asked to stop, and without asking claude when forced", async () => {
    for (const force of [false, true]) {
      const harness = await startHarness({ mode: "obedient" });
      const command = "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done";
      const yaml = `runtime: ${runtime}`;
      const task = await assignRun(harness, {
        yaml,
        prompt: toolCallPrompt(["Bash", { command }]),
      });
      const { exited } = createRunnerPool().take(task.assignment);
      const link = await connectToRunner(task.jobDir, waitOptions);
      const pid = Number(await waitUntil(() => readIfPresent(join(harness.workspace, "pid"))));
      link.stop(force ? "interrupted" : "cancelled", force);
      expect(await exited).toEqual({ code: 0, signal: null });
      const code = force ? "interrupted" : "cancelled";
      expect((await readRunReport(task))?.outcome.code).toBe(code);
      expect(isRunning(pid)).toBe(false);
    }
  });
});

test("does nothing when the attempt was declared void before it started", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const task = await assignRun(harness);
  expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "never_started" });
  const { exited } = createRunnerPool().take(task.assignment);
  expect(await exited).toEqual({ code: 0, signal: null });

  expect(harness.rehearsal.ledger.entries).toEqual([]);
  expect(readdirSync(task.jobDir)).toEqual(["runner-1.json"]);
  expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "never_started" });
});

test("lets exactly one claim an attempt", async () => {
  const harness = await startHarness();
  const { jobDir } = await assignRun(harness);
  mkdirSync(jobDir, { recursive: true });
  const claim = () =>
    claimAttempt(jobDir, {
      version: 1,
      attempt: 1,
      runner: null,
      void: true,
      session_id: null,
      started_at: new Date().toISOString(),
      run: null,
    });
  expect([claim(), claim(), claim()]).toEqual([true, false, false]);
  expect(readdirSync(jobDir)).toEqual(["runner-1.json"]);
});

test("interrupts the run on SIGTERM but not on SIGHUP", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const command = "echo $$ > pid; sleep 60";
  const task = await assignRun(harness, { prompt: toolCallPrompt(["Bash", { command }]) });
  const { pid, exited } = createRunnerPool().take(task.assignment);
  await waitUntil(() => readIfPresent(join(harness.workspace, "pid")));
  process.kill(pid, "SIGHUP");
  process.kill(pid, "SIGTERM");
  expect(await exited).toEqual({ code: 0, signal: null });
  expect((await readRunReport(task))?.outcome.code).toBe("interrupted");
});

test("maps a path that is too long for a socket to a short one and removes it afterwards", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const stateDir = join(harness.home, "deep".repeat(30), ".herdctl");
  const task = await assignRun(harness, {
    stateDir,
    prompt: toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]),
  });
  const { exited } = createRunnerPool().take(task.assignment);
  const link = await connectToRunner(task.jobDir, waitOptions);
  await waitUntil(async () => (await readLoggedMessages(task)).length > 0);
  link.stop("cancelled", false);
  await exited;
  expect((await readRunReport(task))?.outcome.code).toBe("cancelled");
  expect(existsSync(join(task.jobDir, "runner.sock"))).toBe(false);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("herdctl-run-"))).toEqual([]);
});

test("tolerates clients that send nonsense, read nothing or disconnect", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const task = await assignRun(harness, {
    prompt: toolCallPrompt(["Bash", { command: "sleep 0.5" }]),
  });
  const { exited } = createRunnerPool().take(task.assignment);
  (await connectToRunner(task.jobDir, waitOptions)).close();
  const rude = createConnection(join(task.jobDir, "runner.sock")).on("error", () => undefined);
  onTestFinished(() => void rude.destroy());
  rude.write('{"type":"stop"}\n{"type":"answer","request_id":7}\n\0\n[]\nnonsense'.repeat(1_000));
  await exited;
  expect((await readRunReport(task))?.outcome.code).toBe("success");
});

test("records a failure of the runner in the outcome without any secret", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const task = await assignRun(harness);
  mkdirSync(join(task.jobDir, "output.jsonl"), { recursive: true });
  await createRunnerPool().take(task.assignment).exited;
  const report = await readRunReport(task);
  expect(report).toMatchObject({ outcome: { code: "runtime_crashed" }, session_opened: false });
  expect(report?.outcome.message).toContain("EISDIR");
  const log = join(task.jobDir, "runner.log");
  expect(readFileSync(log, "utf8")).toContain("EISDIR");
  expect(readFileSync(log, "utf8")).not.toContain(harness.env.ANTHROPIC_API_KEY);
  expect(statSync(log).mode & 0o777).toBe(0o600);
});

function readIfPresent(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
}
