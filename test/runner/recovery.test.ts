import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { RunReport } from "@herdctl/core/internal";
import { describe, expect, test } from "vitest";
import {
  collectRunReport,
  inspectRunner,
} from "../../packages/core/src/runner/recovery/collect-report.ts";
import {
  type AssignedRun,
  type AssignedRunOptions,
  assignNextAttempt,
  assignRun,
  createRunnerPool,
  isRunning,
  readLoggedMessages,
  readRunReport,
  waitUntil,
} from "../runner-pool/runner-harness.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { tempFolderWith } from "../support/temp-folder.ts";

const runtimeCases: AssignedRunOptions[] = [
  { yaml: "runtime: sdk", version: "325" },
  { yaml: "runtime: cli", version: "325" },
  { yaml: "runtime: cli", version: "197" },
];

describe.each(runtimeCases)("$yaml, $version", (place) => {
  test("settles and cleans up a runner killed in the middle of a tool, and resumes its session", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const prompt = toolCallPrompt(["Bash", { command: "echo $$ >> pids; sleep 60" }]);
    const task = await assignRun(harness, { ...place, prompt });
    const tool = await killDuringTool(harness, task);
    expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "dead" });

    const begun = performance.now();
    const report = await collectRunReport(collectInput(task));
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(report).toMatchObject({
      outcome: { code: "interrupted" },
      session_id: task.assignment.order.session.sessionId,
      session_opened: true,
      attempt: 1,
    });
    expect(report.cost_usd ?? 0).toBeGreaterThan(0);
    expect(isRunning(tool)).toBe(false);
    expect(processesOfJob(task)).toEqual([]);
    const log = readFileSync(task.job.output_file);
    expect(await collectRunReport(collectInput(task))).toEqual(report);
    expect(readFileSync(task.job.output_file)).toEqual(log);
    const left = ["outcome.json", "output.jsonl", "runner-1.json", "spend-1.jsonl", "stderr.log"];
    expect(readdirSync(task.jobDir).sort()).toEqual(left);

    const again = await runRetry(harness, task, report, place);
    expect(again.assignment.order).toMatchObject({
      attempt: 2,
      session: { kind: "resume", sessionId: report.session_id },
    });
    await createRunnerPool().take(again.assignment).exited;
    expect((await readRunReport(again))?.outcome.code).toBe("success");
    expect(harness.rehearsal.ledger.main.map((one) => one.prompt?.includes("OBEY"))).toEqual([
      true,
      false,
    ]);
    expect(await collectRunReport(collectInput(again))).toMatchObject({
      attempt: 2,
      session_opened: true,
    });
  });

  test("reads the outcome of a finished run from its log when it was never written", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { task, report } = await runToEnd(harness, place);
    rmSync(join(task.jobDir, "outcome.json"));
    const collected = await collectRunReport(collectInput(task));
    const { started_at, finished_at } = collected;
    expect(collected).toEqual({ ...report, started_at, finished_at, crashed: true });
    expect(collected.outcome.code).toBe("success");
  });

  test("adds missing messages from the transcript to the log once, however often it is interrupted", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const { task, report } = await runToEnd(harness, place);
    const whole = await readLoggedMessages(task);
    for (const keep of [2, 1, 3, 0]) {
      rmSync(join(task.jobDir, "outcome.json"));
      truncateLog(task, keep);
      const collected = await collectRunReport(collectInput(task));
      expect(collected).toMatchObject({
        outcome: { code: "success" },
        summary: report.summary,
        session_id: report.session_id,
        session_opened: true,
      });
      const uuids = (await readLoggedMessages(task)).map((message) => message.uuid);
      expect(new Set(uuids).size).toBe(uuids.length);
    }
    const messageTypes = ["assistant", "user"];
    const kept = (await readLoggedMessages(task)).filter(({ type }) => messageTypes.includes(type));
    const meant = whole.filter(({ type }) => messageTypes.includes(type));
    expect(kept.map(({ uuid }) => uuid)).toEqual(meant.map(({ uuid }) => uuid));
  });
});

test("adds no secret of `.env` from the transcript to the log or the report", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const prompt = toolCallPrompt(["Bash", { command: "echo canary_$((1230 + 4))" }]);
  const { task } = await runToEnd(harness, { prompt });
  expect(readFileSync(task.job.output_file, "utf8")).toContain("canary_1234");
  rmSync(join(task.jobDir, "outcome.json"));
  truncateSync(task.job.output_file, 0);
  const fleet_dir = tempFolderWith({ ".env": "PLAIN=canary_1234\n" });
  const agent = { ...task.assignment.order.agent, fleet_dir };
  const collected = await collectRunReport({ ...collectInput(task), agent });
  expect(collected.outcome.code).toBe("success");
  expect(collected.summary).toContain("[redacted]");
  const log = readFileSync(task.job.output_file, "utf8");
  expect(log).toContain("[redacted]");
  expect(log + JSON.stringify(collected)).not.toContain("canary_1234");
});

test("records the cost of a resumed session as the difference, also in recovery", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const first = await runToEnd(harness, { yaml: "session: { mode: persistent }" });
  await first.task.state.sessions.save({
    session_id: first.report.session_id,
    agent: "one",
    session_home: first.task.assignment.order.place,
    cwd: harness.workspace,
  });
  await first.task.state.sessions.release(first.report.session_id, first.task.leaseHolder);
  const second = await runToEnd(harness, { yaml: "session: { mode: persistent }" });
  expect(second.report.session_id).toBe(first.report.session_id);
  rmSync(join(second.task.jobDir, "outcome.json"));
  const collected = await collectRunReport(collectInput(second.task));
  expect(collected.cost_usd).toBe(second.report.cost_usd);
  expect(collected.cost_usd).toBeLessThan(collected.session_totals?.costUsd ?? 0);
});

test("ignores an earlier attempt's outcome and a damaged one", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const { task, report } = await runToEnd(harness, {});
  for (const text of [JSON.stringify({ ...report, attempt: 7 }), "{", '{"version":1}']) {
    writeFileSync(join(task.jobDir, "outcome.json"), text);
    expect(await collectRunReport(collectInput(task))).toMatchObject({
      attempt: 1,
      outcome: { code: "success" },
    });
  }
});

test("records an attempt without any trace as interrupted", async () => {
  const harness = await startHarness();
  const task = await assignRun(harness);
  expect(await collectRunReport(collectInput(task))).toMatchObject({
    outcome: { code: "interrupted" },
    session_opened: false,
  });
});

test("repeats an attempt without any trace with the original prompt", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const task = await assignRun(harness, { prompt: "hello" });
  const report = await collectRunReport(collectInput(task));
  const again = await runRetry(harness, task, report, {});
  expect(again.assignment.order).toMatchObject({ prompt: "hello", session: { kind: "fresh" } });
});

function collectInput({ state, job }: AssignedRun) {
  return { stateDir: state.stateDir, job, environment: {} };
}

async function runToEnd(harness: TestHarness, options: AssignedRunOptions) {
  const prompt = toolCallPrompt(["Bash", { command: "echo hi" }]);
  const task = await assignRun(harness, { prompt, ...options });
  await createRunnerPool().take(task.assignment).exited;
  const report = await readRunReport(task);
  if (!report) return expect.fail("there is no outcome");
  return { task, report };
}

async function killDuringTool(harness: TestHarness, task: AssignedRun): Promise<number> {
  const { pid, exited } = createRunnerPool().take(task.assignment);
  const pids = join(harness.workspace, "pids");
  const tool = Number(await waitUntil(() => existsSync(pids) && readFileSync(pids, "utf8")));
  await waitUntil(async () =>
    (await readLoggedMessages(task)).some((one) => one.type === "assistant"),
  );
  process.kill(pid, "SIGKILL");
  await exited;
  expect(isRunning(tool)).toBe(true);
  return tool;
}

/** Records this attempt as the fleet does and runs the next. */
async function runRetry(
  harness: TestHarness,
  task: AssignedRun,
  report: RunReport,
  options: AssignedRunOptions,
) {
  const { state, job } = task;
  await state.jobs.endAttempt(job.id, report.attempt, {
    outcome_code: report.outcome.code,
    session_id: report.session_opened ? report.session_id : null,
    cost_usd: report.cost_usd,
  });
  const { job: waiting } = await state.jobs.update(job.id, {
    status: "waiting",
    outcome: report.outcome,
  });
  return assignNextAttempt(harness, state, waiting, options);
}

function processesOfJob({ job }: AssignedRun): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, "latin1").includes(`HERDCTL_RUN=${job.id}`);
      } catch {
        return false;
      }
    });
}

/** Simulates a runner that died while it wrote the line after these. */
function truncateLog({ job }: AssignedRun, keep: number): void {
  const lines = readFileSync(job.output_file, "utf8").split("\n");
  const length = Buffer.byteLength(
    lines
      .slice(0, keep)
      .map((line) => `${line}\n`)
      .join(""),
  );
  truncateSync(job.output_file, length + 10);
}
