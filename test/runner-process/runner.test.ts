import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { claimAttempt } from "../../packages/core/src/runner-process/claim.ts";
import { inspectRunner } from "../../packages/core/src/runner-process/inspect.ts";
import { connectRunner } from "../../packages/core/src/runner-process/runner-link.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";
import { assign, isRunning, messagesOf, reportOf, sparePool, type Task, until } from "./support.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** A fleet that gives the task away and is then killed; the pid of the runner. */
async function handOverAndDie(task: Task, folder: string): Promise<number> {
  const file = join(folder, "assignment.json");
  writeFileSync(file, JSON.stringify(task.assignment));
  const loader = here("../state/programs/typescript.mjs");
  const program = here("./programs/hand-over.ts");
  const parent = spawn(process.execPath, ["--import", loader, program, file], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = await once(parent.stdout, "data");
  parent.kill("SIGKILL");
  await once(parent, "exit");
  return Number(String(pid));
}

/** On a busy machine a runner takes its time until it listens. */
const patient = { patience: 30_000 };

describe.each(["sdk", "cli"])("%s", (runtime) => {
  test("a job goes on to its outcome though the fleet that started it was killed", async () => {
    const on = await stage({ mode: "obedient" });
    const prompt = obey(["Bash", { command: "echo begun >> log; sleep 1; echo done >> log" }]);
    const task = await assign(on, { yaml: `runtime: ${runtime}`, prompt });
    const pid = await handOverAndDie(task, on.home);

    await until(() => existsSync(join(on.workspace, "log")));
    expect(await inspectRunner(task.jobDir, 1)).toMatchObject({ kind: "alive", identity: { pid } });
    const report = await until(() => reportOf(task));
    expect(report.outcome.code).toBe("success");
    expect(readFileSync(join(on.workspace, "log"), "utf8")).toBe("begun\ndone\n");
    expect(on.rehearsal.ledger.main).toHaveLength(2);

    await until(() => !isRunning(pid));
    expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "dead" });
    const left = ["outcome.json", "output.jsonl", "runner-1.json", "spend-1.jsonl", "stderr.log"];
    expect(readdirSync(task.jobDir).sort()).toEqual(left);
    for (const name of left) expect(statSync(join(task.jobDir, name)).mode & 0o777).toBe(0o600);
  });

  test("a question is put to everybody who is or becomes connected, and the first word counts", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on, {
      yaml: `runtime: ${runtime}\npermission_mode: default`,
      prompt: obey(["Bash", { command: "touch asked" }]),
    });
    const { exited } = sparePool().take(task.assignment);
    const first = await connectRunner(task.jobDir, patient);
    const [asked] = await once(first, "approval");
    expect(asked).toMatchObject({ tool: "Bash", input: { command: "touch asked" } });

    const second = await connectRunner(task.jobDir, patient);
    const [again] = await once(second, "approval");
    expect(again).toEqual(asked);
    const withdrawn = once(first, "withdrawn");
    second.answer(again.request_id, "allow");
    expect((await withdrawn)[0]).toMatchObject({ request_id: asked.request_id, why: "answered" });
    first.answer(asked.request_id, "deny", "too late");

    await Promise.all([once(first, "closed"), once(second, "closed"), exited]);
    expect((await reportOf(task))?.outcome.code).toBe("success");
    expect(readdirSync(on.workspace)).toEqual(["asked"]);
  });

  test("whoever is connected is told the outcome that lies in the folder, and that is the last word", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on, { yaml: `runtime: ${runtime}`, prompt: "hello" });
    const { exited } = sparePool().take(task.assignment);
    const link = await connectRunner(task.jobDir, patient);
    const [[report]] = await Promise.all([once(link, "outcome"), once(link, "closed")]);
    expect(report).toMatchObject({ attempt: 1, outcome: { code: "success" } });
    expect(report).toEqual(await reportOf(task));
    await exited;
  });

  test("a runner that is asked to stop ends its run; forced, it does not ask claude first", async () => {
    for (const force of [false, true]) {
      const on = await stage({ mode: "obedient" });
      const command = "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done";
      const yaml = `runtime: ${runtime}`;
      const task = await assign(on, { yaml, prompt: obey(["Bash", { command }]) });
      const { exited } = sparePool().take(task.assignment);
      const link = await connectRunner(task.jobDir, patient);
      const pid = Number(await until(() => readIfThere(join(on.workspace, "pid"))));
      link.stop(force ? "interrupted" : "cancelled", force);
      expect(await exited).toEqual({ code: 0, signal: null });
      const code = force ? "interrupted" : "cancelled";
      expect((await reportOf(task))?.outcome.code).toBe(code);
      expect(isRunning(pid)).toBe(false);
    }
  });
});

test("a runner that comes after the attempt was declared void does nothing", async () => {
  const on = await stage({ mode: "obedient" });
  const task = await assign(on);
  expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "never_started" });
  const { exited } = sparePool().take(task.assignment);
  expect(await exited).toEqual({ code: 0, signal: null });

  expect(on.rehearsal.ledger.entries).toEqual([]);
  expect(readdirSync(task.jobDir)).toEqual(["runner-1.json"]);
  expect(await inspectRunner(task.jobDir, 1)).toEqual({ kind: "never_started" });
});

test("an attempt is claimed by one alone", async () => {
  const on = await stage();
  const { jobDir } = await assign(on);
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

test("SIGTERM interrupts the run, SIGHUP does not", async () => {
  const on = await stage({ mode: "obedient" });
  const command = "echo $$ > pid; sleep 60";
  const task = await assign(on, { prompt: obey(["Bash", { command }]) });
  const { pid, exited } = sparePool().take(task.assignment);
  await until(() => readIfThere(join(on.workspace, "pid")));
  process.kill(pid, "SIGHUP");
  process.kill(pid, "SIGTERM");
  expect(await exited).toEqual({ code: 0, signal: null });
  expect((await reportOf(task))?.outcome.code).toBe("interrupted");
});

test("a path that is too long for a socket is led to a short one, and nothing of it is left", async () => {
  const on = await stage({ mode: "obedient" });
  const stateDir = join(on.home, "deep".repeat(30), ".herdctl");
  const task = await assign(on, { stateDir, prompt: obey(["Bash", { command: "sleep 60" }]) });
  const { exited } = sparePool().take(task.assignment);
  const link = await connectRunner(task.jobDir, patient);
  await until(async () => (await messagesOf(task)).length > 0);
  link.stop("cancelled", false);
  await exited;
  expect((await reportOf(task))?.outcome.code).toBe("cancelled");
  expect(existsSync(join(task.jobDir, "runner.sock"))).toBe(false);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith("herdctl-run-"))).toEqual([]);
});

test("a client that talks nonsense, reads nothing or leaves harms nobody", async () => {
  const on = await stage({ mode: "obedient" });
  const task = await assign(on, { prompt: obey(["Bash", { command: "sleep 0.5" }]) });
  const { exited } = sparePool().take(task.assignment);
  (await connectRunner(task.jobDir, patient)).close();
  const rude = createConnection(join(task.jobDir, "runner.sock")).on("error", () => undefined);
  onTestFinished(() => void rude.destroy());
  rude.write('{"type":"stop"}\n{"type":"answer","request_id":7}\n\0\n[]\nnonsense'.repeat(1_000));
  await exited;
  expect((await reportOf(task))?.outcome.code).toBe("success");
});

test("a runner that breaks down says so in the outcome, and tells no secret", async () => {
  const on = await stage({ mode: "obedient" });
  const task = await assign(on);
  mkdirSync(join(task.jobDir, "output.jsonl"), { recursive: true });
  await sparePool().take(task.assignment).exited;
  const report = await reportOf(task);
  expect(report).toMatchObject({ outcome: { code: "runtime_crashed" }, session_opened: false });
  expect(report?.outcome.message).toContain("EISDIR");
  const log = join(task.jobDir, "runner.log");
  expect(readFileSync(log, "utf8")).toContain("EISDIR");
  expect(readFileSync(log, "utf8")).not.toContain(on.env.ANTHROPIC_API_KEY);
  expect(statSync(log).mode & 0o777).toBe(0o600);
});

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
}
