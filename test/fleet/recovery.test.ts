import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { consultOracle } from "../oracle/oracle.ts";
import { Random } from "../storm/random.ts";
import { storm } from "../storm/storm.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
/** A tool that waits for a file to appear, and says so before and after. */
const patientTool = obey([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended" },
]);

describe.each(["sdk", "cli"])("%s", (runtime) => {
  const agents = `  - { name: one, runtime: ${runtime} }`;

  test("the fleet is killed in the middle of a tool: the tool goes on, the next fleet takes over, nothing is asked twice", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agents);
    const first = await fleetProgram(on, file);
    const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    await first.kill();

    const second = await fleetProgram(on, file);
    expect((await second.control.status()).fleet.running).toBe(1);
    writeFileSync(join(on.workspace, "go"), "");
    const ended = await second.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", outcome: { code: "success" }, attempts: 1 });
    expect(readFileSync(join(on.workspace, "ended"), "utf8")).toBe("x\n");
    expect(on.rehearsal.ledger.main).toHaveLength(2);
    expect(processesWith(job.id)).toEqual([]);
    await second.stop();
  });

  test("a job that ends while no fleet runs is recorded by the next", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agents);
    const first = await fleetProgram(on, file);
    const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    await first.kill();
    writeFileSync(join(on.workspace, "go"), "");
    await until("the runner to end", async () => processesWith(job.id).length === 0);

    const second = await fleetProgram(on, file);
    const ended = await second.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 1 });
    expect(ended.cost_usd).toBeGreaterThan(0);
    await second.stop();
  });

  test("the runner is killed: settled within 5 s, nothing left, the same session goes on with a continuation", async () => {
    const on = await stage({ mode: "obedient" });
    const fleet = await fleetProgram(on, fleetFile(on, agents));
    const { job } = await fleet.control.trigger({ ...manual, prompt: patientTool });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    const { runner, session_id } = await jobNow(fleet.control, job.id);
    const killedAt = Date.now();
    process.kill(runner?.pid ?? 0, "SIGKILL");
    writeFileSync(join(on.workspace, "go"), "");

    await until("the attempt to be settled", async () => {
      const found = await fleet.control.job(job.id);
      return found?.attempts[0]?.finished_at;
    });
    expect(Date.now() - killedAt).toBeLessThan(5_000);
    const ended = await fleet.control.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, session_id, crashes: 1 });
    const last = on.rehearsal.ledger.main.at(-1);
    expect(last?.sessionId).toBe(session_id);
    expect(last?.prompt).toContain("interrupted");
    expect(processesWith(job.id)).toEqual([]);
    await fleet.stop();
  });
});

test("a job that takes its runner down three times is set aside with its story", async () => {
  // The parent of claude is the runner; every prompt kills it.
  const command = "kill -9 $(awk '{print $4}' /proc/$PPID/stat); sleep 9";
  const on = await stage({
    script: { rules: [{ reply: { tools: [{ name: "Bash", input: { command } }] } }] },
  });
  const retry = "retry: { max_attempts: 9, backoff: 50ms }";
  const fleet = await fleetProgram(on, fleetFile(on, `  - { name: one, runtime: cli, ${retry} }`));
  const { job } = await fleet.control.trigger({ ...manual, prompt: "go" });
  const ended = await fleet.control.wait(job.id);
  expect(ended).toMatchObject({
    status: "failed",
    outcome: { code: "runtime_crashed" },
    crashes: 3,
  });
  expect(ended.outcome?.message).toContain("3 times");
  expect(processesWith(job.id)).toEqual([]);
  await fleet.stop();
});

test("a restart during work: no job notices", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const first = await fleetProgram(on, file);
  const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  await first.control.shutdown({ detach: true }).catch(() => undefined);
  expect(await first.exited).toBe(0);

  const second = await fleetProgram(on, file);
  writeFileSync(join(on.workspace, "go"), "");
  const ended = await second.control.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 1 });
  expect(on.rehearsal.ledger.main).toHaveLength(2);
  await second.stop();
});

test("a question survives the fleet: asked once on record, answered through the next", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli, permission_mode: default }");
  const first = await fleetProgram(on, file);
  const { job } = await first.control.trigger({
    ...manual,
    prompt: obey(["Bash", { command: "touch asked" }]),
  });
  const [asked] = await until("the question", async () => {
    const open = await first.control.approvals();
    return open.length > 0 && open;
  });
  await first.kill();

  const second = await fleetProgram(on, file);
  const [again] = await second.control.approvals();
  expect(again?.id).toBe(asked?.id);
  await until(
    "the runner to be heard",
    async () => (await jobNow(second.control, job.id)).status === "waiting",
  );
  await new Promise((done) => setTimeout(done, 300));
  await second.control.answer(again?.id ?? "", "allow", "somebody else");
  expect(await second.control.wait(job.id)).toMatchObject({
    outcome: { code: "success" },
    attempts: 1,
  });
  expect(existsSync(join(on.workspace, "asked"))).toBe(true);
  await second.stop();
});

test("both are killed while jobs are in flight: every job ends once, and nothing is left", async () => {
  const random = new Random(4);
  const few = { agents: 6, atOnce: 4, jobs: 12, more: 2, rounds: 4, longest: 30_000 };
  const { cases, wrong } = await consultOracle(await storm({ random, ...few }));
  expect(wrong).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(few.jobs);
}, 120_000);

test("a command that was its own fleet is killed: the agent goes on, the next fleet takes the job over", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const env = { ...on.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const args = ["trigger", "one", "-p", patientTool, "--config", file];
  const alone = spawn(join(import.meta.dirname, "../../bin/herdctl"), args, {
    env,
    stdio: "ignore",
  });
  const exited = new Promise((done) => alone.once("close", done));
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  alone.kill("SIGKILL");
  await exited;

  const fleet = await fleetProgram(on, file);
  writeFileSync(join(on.workspace, "go"), "");
  const [job] = (await fleet.control.jobs({ limit: 1 })).jobs;
  const ended = await fleet.control.wait(job?.id ?? "");
  expect(ended).toMatchObject({ status: "completed", attempts: 1, crashes: 0 });
  expect(on.rehearsal.ledger.main).toHaveLength(2);
  expect(processesWith(ended.id)).toEqual([]);
  await fleet.stop();
});
