import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runnerProgramPath } from "../../packages/core/src/runner/contract/paths.ts";
import { startHarness } from "../support/harness.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import {
  assignRun,
  createRunnerPool,
  isRunning,
  readRunReport,
  waitUntil,
} from "./runner-harness.ts";

describe("idle runners", () => {
  test("assigns an idle runner, replaces it, and ends the rest with the pool while the job's runner continues", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const task = await assignRun(harness, {
      prompt: toolCallPrompt(["Bash", { command: "sleep 3; echo done" }]),
    });
    const pool = createRunnerPool();
    const [spare] = childPids();
    const { pid, exited } = pool.take(task.assignment);
    expect(pid).toBe(spare);
    const [next] = await waitUntil(() => unlessEmpty(childPids().filter((one) => one !== pid)));
    await pool.stop();
    expect(isRunning(next ?? 0)).toBe(false);
    expect(isRunning(pid)).toBe(true);
    await exited;
    expect((await readRunReport(task))?.outcome.code).toBe("success");
    expect(childPids()).toEqual([]);
  });

  test("replaces an idle runner that died", async () => {
    createRunnerPool();
    const [spare = 0] = childPids();
    process.kill(spare, "SIGKILL");
    const [next] = await waitUntil(() => unlessEmpty(childPids().filter((one) => one !== spare)));
    expect(next).not.toBe(spare);
  });

  test("starts an idle runner for each of many concurrent jobs", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const pool = createRunnerPool();
    const tasks = await Promise.all([assignRun(harness), assignRun(harness), assignRun(harness)]);
    await Promise.all(tasks.map((task) => pool.take(task.assignment).exited));
    const reports = await Promise.all(tasks.map((task) => readRunReport(task)));
    expect(reports.map((report) => report?.outcome.code)).toEqual([
      "success",
      "success",
      "success",
    ]);
  });

  test("starts runners in a separate process session with a minimal environment", async () => {
    process.env.HERDCTL_TEST_SECRET = "not for the runner";
    createRunnerPool();
    delete process.env.HERDCTL_TEST_SECRET;
    const [spare = 0] = childPids();
    const environ = readFileSync(`/proc/${spare}/environ`, "utf8").split("\0").filter(Boolean);
    const names = environ.map((entry) => entry.split("=")[0]);
    const known = ["PATH", "HOME", "TMPDIR", "NODE_EXTRA_CA_CERTS", "NODE_V8_COVERAGE"];
    expect(names.filter((name) => !known.includes(name ?? ""))).toEqual([]);
    const fields = readFileSync(`/proc/${spare}/stat`, "utf8").split(") ")[1]?.split(" ");
    expect(Number(fields?.[3])).toBe(spare);
  });
});

/** The runner processes that this process has started. */
function childPids(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(runnerProgramPath()))
    .filter((pid) => read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1] === `${process.pid}`);
}

function unlessEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
