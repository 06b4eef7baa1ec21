import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { RunCgroup } from "../../packages/core/src/runner/sweep/cgroup.ts";
import { readClaim } from "../../packages/core/src/runner-process/claim.ts";
import { runnerProgram } from "../../packages/core/src/runner-process/program.ts";
import { identifyProcess } from "../../packages/core/src/state/process-identity.ts";
import { folderWith } from "../support/folder.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";
import { assign, isRunning, reportOf, sparePool, until } from "./support.ts";

describe("a spare", () => {
  test("is taken by a job, replaced, and goes with its pool while the job's runner goes on", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on, { prompt: obey(["Bash", { command: "sleep 3; echo done" }]) });
    const pool = sparePool();
    const [spare] = children();
    const { pid, exited } = pool.take(task.assignment);
    expect(pid).toBe(spare);
    const [next] = await until(() => some(children().filter((one) => one !== pid)));
    await pool.stop();
    expect(isRunning(next ?? 0)).toBe(false);
    expect(isRunning(pid)).toBe(true);
    await exited;
    expect((await reportOf(task))?.outcome.code).toBe("success");
    expect(children()).toEqual([]);
  });

  test("that died is replaced", async () => {
    sparePool();
    const [spare = 0] = children();
    process.kill(spare, "SIGKILL");
    const [next] = await until(() => some(children().filter((one) => one !== spare)));
    expect(next).not.toBe(spare);
  });

  test("that is killed while it practises leaves nothing behind once its pool is gone", async () => {
    const scratch = folderWith({});
    const pool = sparePool({ scratch });
    await until(() => existsSync(scratch) && readdirSync(scratch).length > 0);
    for (const spare of children()) process.kill(spare, "SIGKILL");
    await pool.stop();
    expect(existsSync(scratch)).toBe(false);
  });

  test("is started for each of many that come at once", async () => {
    const on = await stage({ mode: "obedient" });
    const pool = sparePool();
    const tasks = await Promise.all([assign(on), assign(on), assign(on)]);
    await Promise.all(tasks.map((task) => pool.take(task.assignment).exited));
    const reports = await Promise.all(tasks.map((task) => reportOf(task)));
    expect(reports.map((report) => report?.outcome.code)).toEqual([
      "success",
      "success",
      "success",
    ]);
  });

  test("that was told what is coming begins nothing before it is given that", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on);
    const runner = sparePool().reserve();
    runner.prepare(task.assignment);
    await until(() => existsSync(join(task.jobDir, "output.jsonl")));
    await delay(500);
    expect(await readClaim(task.jobDir, 1)).toEqual({ kind: "none" });
    expect(on.rehearsal.ledger.entries).toEqual([]);

    runner.give(task.assignment);
    await runner.exited;
    expect((await reportOf(task))?.outcome.code).toBe("success");
  });

  test("that is let go instead has begun nothing", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on);
    const runner = sparePool().reserve();
    runner.prepare(task.assignment);
    await until(() => existsSync(join(task.jobDir, "output.jsonl")));
    runner.letGo();
    expect(await runner.exited).toEqual({ code: 0, signal: null });
    expect(readdirSync(task.jobDir)).toEqual(["output.jsonl"]);
    expect(await readClaim(task.jobDir, 1)).toEqual({ kind: "none" });
    expect(on.rehearsal.ledger.entries).toEqual([]);
  });

  test("that was told twice carries out what it was told last", async () => {
    const on = await stage({ mode: "obedient" });
    const task = await assign(on);
    const { order } = task.assignment;
    const runner = sparePool().reserve();
    const other = { ...order, session: { kind: "fresh" as const, sessionId: randomUUID() } };
    runner.prepare({ ...task.assignment, order: other });
    runner.prepare(task.assignment);
    runner.give(task.assignment);
    await runner.exited;
    expect(await reportOf(task)).toMatchObject({
      outcome: { code: "success" },
      session_id: order.session.sessionId,
    });
    expect(on.rehearsal.ledger.entries.length).toBeGreaterThan(0);
  });

  test("has a launcher beside it, which becomes `claude` and is gone with its run", async () => {
    const on = await stage({ mode: "obedient" });
    const prompt = obey(["Bash", { command: "sleep 1" }]);
    const task = await assign(on, { prompt, yaml: "runtime: cli" });
    const pool = sparePool();
    const [spare = 0] = children();
    const launcher = await launcherOf(spare);
    const runner = pool.reserve();
    runner.prepare(task.assignment);
    runner.give(task.assignment);
    const { jobId } = task.assignment.order;
    await until(() => read(`/proc/${launcher}/environ`).includes(`HERDCTL_RUN=${jobId}.1\0`));
    expect(read(`/proc/${launcher}/cmdline`)).toContain("--output-format=stream-json");
    await runner.exited;
    expect((await reportOf(task))?.outcome.code).toBe("success");
    expect(isRunning(launcher)).toBe(false);
  });

  test("that is killed takes its launcher along, and its pool what that leaves", async () => {
    const pool = sparePool();
    const [spare = 0] = children();
    const launcher = await launcherOf(spare);
    process.kill(spare, "SIGKILL");
    await until(() => !isRunning(launcher));
    const next = await until(() => children().find((pid) => pid !== spare));
    await launcherOf(next);
    await pool.stop();
    expect(RunCgroup.tokens().filter((token) => isOf(token, [spare, next]))).toEqual([]);
  });

  test("leads a session of its own and carries nothing of our environment", async () => {
    process.env.HERDCTL_TEST_SECRET = "not for the runner";
    sparePool();
    delete process.env.HERDCTL_TEST_SECRET;
    const [spare = 0] = children();
    const environ = readFileSync(`/proc/${spare}/environ`, "utf8").split("\0").filter(Boolean);
    const names = environ.map((entry) => entry.split("=")[0]);
    const known = ["PATH", "HOME", "TMPDIR", "NODE_EXTRA_CA_CERTS", "NODE_V8_COVERAGE"];
    expect(names.filter((name) => !known.includes(name ?? ""))).toEqual([]);
    const fields = readFileSync(`/proc/${spare}/stat`, "utf8").split(") ")[1]?.split(" ");
    expect(Number(fields?.[3])).toBe(spare);
  });
});

/** The runner processes that this one has started. */
function children(): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isRunning(pid))
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(runnerProgram()))
    .filter((pid) => read(`/proc/${pid}/stat`).split(") ")[1]?.split(" ")[1] === `${process.pid}`);
}

/** The process that waits beside a spare; it is there once the spare has practised. */
async function launcherOf(spare: number): Promise<number> {
  const started = identifyProcess(spare)?.start_time ?? "";
  return until(async () => {
    if (existsSync(join(scratchOf(spare), String(spare)))) return undefined;
    const marker = `HERDCTL_RUN=launcher.${spare}.${started}\0`;
    return readdirSync("/proc")
      .map(Number)
      .find((pid) => Number.isInteger(pid) && read(`/proc/${pid}/environ`).includes(marker));
  });
}

/** Where it practises, as it was told. */
function scratchOf(spare: number): string {
  const words = read(`/proc/${spare}/cmdline`).split("\0");
  return words[words.indexOf(runnerProgram()) + 1] ?? "";
}

function isOf(token: string, runners: number[]): boolean {
  return runners.some((pid) => token.startsWith(`launcher.${pid}.`));
}

function some<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
