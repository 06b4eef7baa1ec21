import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { RunReport } from "@herdctl/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { Launcher } from "../../packages/core/src/runner/runtime/launcher.ts";
import { launcherToken } from "../../packages/core/src/runner/sweep/launcher-token.ts";
import { findMarked } from "../../packages/core/src/runner/sweep/marker.ts";
import { sweepRun } from "../../packages/core/src/runner/sweep/sweep-run.ts";
import { claimAttempt } from "../../packages/core/src/runner-process/claim.ts";
import { inspectRunner } from "../../packages/core/src/runner-process/inspect.ts";
import { reportOfDead } from "../../packages/core/src/runner-process/recover.ts";
import { currentProcess } from "../../packages/core/src/state/process-identity.ts";
import { folderWith } from "../support/folder.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";
import {
  assign,
  assignAgain,
  isRunning,
  messagesOf,
  reportOf,
  sparePool,
  type Task,
  type TaskOptions,
  until,
} from "./support.ts";

const places: TaskOptions[] = [
  { yaml: "runtime: sdk", version: "325" },
  { yaml: "runtime: cli", version: "325" },
  { yaml: "runtime: cli", version: "197" },
];

describe.each(places)("$yaml, $version", (place) => {
  test("a runner killed in the middle of a tool is settled, swept, and its session gone on with", async () => {
    const on = await stage({ mode: "obedient" });
    const prompt = obey(["Bash", { command: "echo $$ >> pids; sleep 60" }]);
    const task = await assign(on, { ...place, prompt });
    const tool = await killInTool(on, task);
    expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "dead" });

    const begun = performance.now();
    const report = await reportOfDead(deadRun(task));
    expect(performance.now() - begun).toBeLessThan(5_000);
    expect(report).toMatchObject({
      outcome: { code: "interrupted" },
      session_id: task.assignment.order.session.sessionId,
      session_opened: true,
      attempt: 1,
    });
    expect(report.cost_usd).toBeGreaterThan(0);
    expect(isRunning(tool)).toBe(false);
    expect(marked(task)).toEqual([]);
    const log = readFileSync(task.job.output_file);
    expect(await reportOfDead(deadRun(task))).toEqual(report);
    expect(readFileSync(task.job.output_file)).toEqual(log);
    const left = ["outcome.json", "output.jsonl", "runner-1.json", "spend-1.jsonl", "stderr.log"];
    expect(readdirSync(task.jobDir).sort()).toEqual(left);

    const again = await retried(on, task, report, place);
    expect(again.assignment.order).toMatchObject({
      attempt: 2,
      session: { kind: "resume", sessionId: report.session_id },
    });
    await sparePool().take(again.assignment).exited;
    expect((await reportOf(again))?.outcome.code).toBe("success");
    expect(on.rehearsal.ledger.main.map((one) => one.prompt?.includes("OBEY"))).toEqual([
      true,
      false,
    ]);
    expect(await reportOfDead(deadRun(again))).toMatchObject({ attempt: 2, session_opened: true });
  });

  test("a finished run whose outcome was never written is told from its log", async () => {
    const on = await stage({ mode: "obedient" });
    const { task, report } = await finished(on, place);
    rmSync(join(task.jobDir, "outcome.json"));
    const told = await reportOfDead(deadRun(task));
    const { started_at, finished_at } = told;
    expect(told).toEqual({ ...report, started_at, finished_at, crashed: true });
    expect(told.outcome.code).toBe("success");
  });

  test("what the log lacks is added from the transcript, once, however often it is interrupted", async () => {
    const on = await stage({ mode: "obedient" });
    const { task, report } = await finished(on, place);
    const whole = await messagesOf(task);
    for (const keep of [2, 1, 3, 0]) {
      rmSync(join(task.jobDir, "outcome.json"));
      cutLog(task, keep);
      const told = await reportOfDead(deadRun(task));
      expect(told).toMatchObject({
        outcome: { code: "success" },
        summary: report.summary,
        session_id: report.session_id,
        session_opened: true,
      });
      const uuids = (await messagesOf(task)).map((message) => message.uuid);
      expect(new Set(uuids).size).toBe(uuids.length);
    }
    const spoken = ["assistant", "user"];
    const kept = (await messagesOf(task)).filter(({ type }) => spoken.includes(type));
    const meant = whole.filter(({ type }) => spoken.includes(type));
    expect(kept.map(({ uuid }) => uuid)).toEqual(meant.map(({ uuid }) => uuid));
  });
});

test("a secret of `.env` in the transcript is not added to the log, nor to the report", async () => {
  const on = await stage({ mode: "obedient" });
  const prompt = obey(["Bash", { command: "echo canary_$((1230 + 4))" }]);
  const { task } = await finished(on, { prompt });
  expect(readFileSync(task.job.output_file, "utf8")).toContain("canary_1234");
  rmSync(join(task.jobDir, "outcome.json"));
  truncateSync(task.job.output_file, 0);
  const fleet_dir = folderWith({ ".env": "PLAIN=canary_1234\n" });
  const agent = { ...task.assignment.order.agent, fleet_dir };
  const told = await reportOfDead({ ...deadRun(task), agent });
  expect(told.outcome.code).toBe("success");
  expect(told.summary).toContain("[redacted]");
  const log = readFileSync(task.job.output_file, "utf8");
  expect(log).toContain("[redacted]");
  expect(log + JSON.stringify(told)).not.toContain("canary_1234");
});

test("the cost of a resumed session is told as the difference, by recovery too", async () => {
  const on = await stage({ mode: "obedient" });
  const first = await finished(on, { yaml: "session: { mode: persistent }" });
  await first.task.state.sessions.save({
    session_id: first.report.session_id,
    agent: "one",
    place: first.task.assignment.order.place,
    cwd: on.workspace,
  });
  await first.task.state.sessions.release(first.report.session_id, first.task.holder);
  const second = await finished(on, { yaml: "session: { mode: persistent }" });
  expect(second.report.session_id).toBe(first.report.session_id);
  rmSync(join(second.task.jobDir, "outcome.json"));
  const told = await reportOfDead(deadRun(second.task));
  expect(told.cost_usd).toBe(second.report.cost_usd);
  expect(told.cost_usd).toBeLessThan(told.session_totals?.costUsd ?? 0);
});

test("an outcome of an earlier attempt, or a damaged one, is not taken for this one's", async () => {
  const on = await stage({ mode: "obedient" });
  const { task, report } = await finished(on, {});
  for (const text of [JSON.stringify({ ...report, attempt: 7 }), "{", '{"version":1}']) {
    writeFileSync(join(task.jobDir, "outcome.json"), text);
    expect(await reportOfDead(deadRun(task))).toMatchObject({
      attempt: 1,
      outcome: { code: "success" },
    });
  }
});

test("an attempt of which nothing is left was interrupted", async () => {
  const on = await stage();
  const task = await assign(on);
  expect(await reportOfDead(deadRun(task))).toMatchObject({
    outcome: { code: "interrupted" },
    session_opened: false,
  });
});

test("an attempt that left no trace is made again as it was asked for", async () => {
  const on = await stage({ mode: "obedient" });
  const task = await assign(on, { prompt: "hello" });
  const report = await reportOfDead(deadRun(task));
  const again = await retried(on, task, report, {});
  expect(again.assignment.order).toMatchObject({ prompt: "hello", session: { kind: "fresh" } });
});

test("a launcher that was told just before its runner died, and is not `claude` yet, is ended", async () => {
  const on = await stage({ mode: "obedient" });
  const task = await assign(on);
  const { claude, cwd, session } = task.assignment.order;
  const runner = { ...currentProcess(), start_time: "of one that is dead" };
  const launcher = new Launcher(runner);
  const found = { version: 1, attempt: 1, runner, void: false, run: null } as const;
  const started_at = new Date().toISOString();
  claimAttempt(task.jobDir, { ...found, session_id: session.sessionId, started_at });
  const env = { HERDCTL_RUN: `${task.job.id}.1` };
  const { pid } = await until(() => [...findMarked(launcherToken(runner), new Set())][0]);
  process.kill(pid, "SIGSTOP");
  onTestFinished(async () => void (await sweepRun(launcherToken(runner))));
  const told = launcher.spawn({ file: claude.path, args: ["-p", "hello"], cwd, env });
  expect(told.pid).toBe(pid);

  expect(await reportOfDead(deadRun(task))).toMatchObject({ outcome: { code: "interrupted" } });
  expect(isRunning(pid)).toBe(false);
  expect(on.rehearsal.ledger.entries).toEqual([]);
});

function deadRun({ state, job }: Task) {
  return { stateDir: state.stateDir, job, environment: {} };
}

async function finished(on: Stage, options: TaskOptions) {
  const prompt = obey(["Bash", { command: "echo hi" }]);
  const task = await assign(on, { prompt, ...options });
  await sparePool().take(task.assignment).exited;
  const report = await reportOf(task);
  if (!report) return expect.fail("there is no outcome");
  return { task, report };
}

async function killInTool(on: Stage, task: Task): Promise<number> {
  const { pid, exited } = sparePool().take(task.assignment);
  const pids = join(on.workspace, "pids");
  const tool = Number(await until(() => existsSync(pids) && readFileSync(pids, "utf8")));
  await until(async () => (await messagesOf(task)).some((one) => one.type === "assistant"));
  process.kill(pid, "SIGKILL");
  await exited;
  expect(isRunning(tool)).toBe(true);
  return tool;
}

/** The next attempt, after this one was recorded as the fleet does. */
async function retried(on: Stage, task: Task, report: RunReport, options: TaskOptions) {
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
  return assignAgain(on, state, waiting, options);
}

function marked({ job }: Task): string[] {
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

/** As if the runner had died in the middle of writing the line after these. */
function cutLog({ job }: Task, keep: number): void {
  const lines = readFileSync(job.output_file, "utf8").split("\n");
  const length = Buffer.byteLength(
    lines
      .slice(0, keep)
      .map((line) => `${line}\n`)
      .join(""),
  );
  truncateSync(job.output_file, length + 10);
}
