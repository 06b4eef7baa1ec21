import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runProcessKills } from "../chaos/run-process-kills.ts";
import { SeededRandom } from "../chaos/seeded-random.ts";
import { consultOracle } from "../invariants/check-invariants.ts";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
/** A tool that waits for a file to appear and writes a line before and after. */
const waitingToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended" },
]);

describe.each(["sdk", "cli"])("%s", (runtime) => {
  const agents = `  - { name: one, runtime: ${runtime} }`;

  test("continues a tool while the fleet is killed, and the next fleet takes over without repeating a request", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(harness, agents);
    const first = await startFleetProcess(harness, file);
    const { job } = await first.control.jobs.trigger({
      ...manualTrigger,
      prompt: waitingToolPrompt,
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    await first.kill();

    const second = await startFleetProcess(harness, file);
    expect((await second.control.status()).fleet.running).toBe(1);
    writeFileSync(join(harness.workspace, "go"), "");
    const ended = await second.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", outcome: { code: "success" }, attempts: 1 });
    expect(readFileSync(join(harness.workspace, "ended"), "utf8")).toBe("x\n");
    expect(harness.rehearsal.ledger.main).toHaveLength(2);
    expect(processesWithMarker(job.id)).toEqual([]);
    await second.stop();
  });

  test("records a job that ended while no fleet was running", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(harness, agents);
    const first = await startFleetProcess(harness, file);
    const { job } = await first.control.jobs.trigger({
      ...manualTrigger,
      prompt: waitingToolPrompt,
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    await first.kill();
    writeFileSync(join(harness.workspace, "go"), "");
    await waitUntil("the runner to end", async () => processesWithMarker(job.id).length === 0);

    const second = await startFleetProcess(harness, file);
    const ended = await second.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 1 });
    expect(ended.cost_usd).toBeGreaterThan(0);
    await second.stop();
  });

  test("settles a killed runner within 5 s, leaves nothing behind and resumes the same session with a continuation", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleetProcess(harness, writeFleetFile(harness, agents));
    const { job } = await fleet.control.jobs.trigger({
      ...manualTrigger,
      prompt: waitingToolPrompt,
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    const { runner, session_id } = await readJob(fleet.control, job.id);
    const killedAt = Date.now();
    process.kill(runner?.pid ?? 0, "SIGKILL");
    writeFileSync(join(harness.workspace, "go"), "");

    await waitUntil("the attempt to be settled", async () => {
      const found = await fleet.control.jobs.get(job.id);
      return found?.attempts[0]?.finished_at;
    });
    expect(Date.now() - killedAt).toBeLessThan(5_000);
    const ended = await fleet.control.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, session_id, crashes: 1 });
    const last = harness.rehearsal.ledger.main.at(-1);
    expect(last?.sessionId).toBe(session_id);
    expect(last?.prompt).toContain("interrupted");
    expect(processesWithMarker(job.id)).toEqual([]);
    await fleet.stop();
  });
});

test("abandons a job that crashed its runner three times, with its history", async () => {
  // The parent of claude is the runner; every prompt kills it.
  const command = "kill -9 $(awk '{print $4}' /proc/$PPID/stat); sleep 9";
  const harness = await startHarness({
    script: { rules: [{ reply: { tools: [{ name: "Bash", input: { command } }] } }] },
  });
  const retry = "retry: { max_attempts: 9, backoff: 50ms }";
  const fleet = await startFleetProcess(
    harness,
    writeFleetFile(harness, `  - { name: one, runtime: cli, ${retry} }`),
  );
  const { job } = await fleet.control.jobs.trigger({ ...manualTrigger, prompt: "go" });
  const ended = await fleet.control.jobs.wait(job.id);
  expect(ended).toMatchObject({
    status: "failed",
    outcome: { code: "runtime_crashed" },
    crashes: 3,
  });
  expect(ended.outcome?.message).toContain("3 times");
  expect(processesWithMarker(job.id)).toEqual([]);
  await fleet.stop();
});

test("keeps a running job undisturbed through a restart", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const first = await startFleetProcess(harness, file);
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt: waitingToolPrompt });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  await first.control.shutdown({ detach: true }).catch(() => undefined);
  expect(await first.exited).toBe(0);

  const second = await startFleetProcess(harness, file);
  writeFileSync(join(harness.workspace, "go"), "");
  const ended = await second.control.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 1 });
  expect(harness.rehearsal.ledger.main).toHaveLength(2);
  await second.stop();
});

test("records a question once across a fleet restart and answers it through the next fleet", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli, permission_mode: default }");
  const first = await startFleetProcess(harness, file);
  const { job } = await first.control.jobs.trigger({
    ...manualTrigger,
    prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
  });
  const [asked] = await waitUntil("the question", async () => {
    const open = await first.control.approvals.list();
    return open.length > 0 && open;
  });
  await first.kill();

  const second = await startFleetProcess(harness, file);
  const [again] = await second.control.approvals.list();
  expect(again?.id).toBe(asked?.id);
  await waitUntil(
    "the runner to be heard",
    async () => (await readJob(second.control, job.id)).status === "waiting",
  );
  await new Promise((done) => setTimeout(done, 300));
  await second.control.approvals.answer(again?.id ?? "", "allow", { note: "somebody else" });
  expect(await second.control.jobs.wait(job.id)).toMatchObject({
    outcome: { code: "success" },
    attempts: 1,
  });
  expect(existsSync(join(harness.workspace, "asked"))).toBe(true);
  await second.stop();
});

test("ends every job once and leaves nothing behind when fleet and runners are killed during jobs", async () => {
  const random = new SeededRandom(4);
  const few = {
    agents: 6,
    maxConcurrentJobs: 4,
    jobs: 12,
    maxJobsPerKill: 2,
    rounds: 4,
    maxDurationMs: 30_000,
  };
  const { cases, violations } = await consultOracle(await runProcessKills({ random, ...few }));
  expect(violations).toEqual([]);
  expect(cases.length).toBeGreaterThanOrEqual(few.jobs);
}, 120_000);

test("continues the agent when a command that ran its own fleet is killed, and the next fleet takes the job over", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const env = { ...harness.env, CLAUDE_CODE_MAX_RETRIES: "1" };
  const args = ["trigger", "one", "-p", waitingToolPrompt, "--config", file];
  const alone = spawn(join(import.meta.dirname, "../../bin/herdctl"), args, {
    env,
    stdio: "ignore",
  });
  const exited = new Promise((done) => alone.once("close", done));
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  alone.kill("SIGKILL");
  await exited;

  const fleet = await startFleetProcess(harness, file);
  writeFileSync(join(harness.workspace, "go"), "");
  const [job] = (await fleet.control.jobs.list({ limit: 1 })).jobs;
  const ended = await fleet.control.jobs.wait(job?.id ?? "");
  expect(ended).toMatchObject({ status: "completed", attempts: 1, crashes: 0 });
  expect(harness.rehearsal.ledger.main).toHaveLength(2);
  expect(processesWithMarker(ended.id)).toEqual([]);
  await fleet.stop();
});
