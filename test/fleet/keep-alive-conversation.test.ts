import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job, TriggerRequest } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { readTranscript } from "../../packages/core/src/claude/session-files/transcript.ts";
import { readProcess } from "../../packages/core/src/process-tree/process-table.ts";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile as fileFor, startFleetInProcess } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const turnRequest = { agent: "one", conversation: true };
const oneAgentYaml = "  - { name: one, runtime: cli }";

/** Writes the pid of claude, the parent process of the tool. */
const recordPidPrompt = toolCallPrompt(["Bash", { command: "echo $PPID >> pids" }]);
const waitingToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo $PPID >> pids; echo x >> began; while [ ! -e go ]; do sleep 0.05; done" },
]);

/** Keeps sessions alive, unlike most tests. */
function writeKeepAliveFleetFile(
  harness: TestHarness,
  agents: string,
  fleet = "max_keep_alive: 4",
): string {
  return fileFor(harness, agents, fleet);
}

type TriggerInput = TriggerRequest;

async function runTurn(
  fleet: Pick<FleetControl, "jobs">,
  prompt: string,
  more: Partial<TriggerInput> = {},
): Promise<Job> {
  const { job } = await fleet.jobs.trigger({ ...turnRequest, prompt, ...more });
  return fleet.jobs.wait(job.id);
}

function sessionOf(job: Job): string {
  return job.session_id ?? expect.fail("it has no session");
}

/** The recorded pid of each turn. */
function recordedPids(harness: TestHarness): number[] {
  const file = join(harness.workspace, "pids");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

function isRunning(pid = 0): boolean {
  return readProcess(pid, "linux") !== undefined;
}

function keepAliveFolders(file: string): string[] {
  const folder = join(dirname(file), ".herdctl", "live");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function lastRequest(harness: TestHarness): string {
  return JSON.stringify(harness.rehearsal.ledger.main.at(-1)?.body);
}

const runtimes = ["sdk", "cli"];
const agentOn = (runtime: string) => `  - { name: one, runtime: ${runtime} }`;

describe.each(runtimes)("%s", (runtime) => {
  test("runs three turns as three jobs in one claude process, each with separate output and cost", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeKeepAliveFleetFile(harness, agentOn(runtime));
    const fleet = await startFleetInProcess(harness, file);
    const first = await runTurn(fleet, `${recordPidPrompt} marmalade`);
    const resume = sessionOf(first);
    const second = await runTurn(fleet, recordPidPrompt, { resume });
    const third = await runTurn(fleet, recordPidPrompt, { resume });

    const jobs = [first, second, third];
    expect(new Set(recordedPids(harness)).size).toBe(1);
    expect(recordedPids(harness)).toHaveLength(3);
    expect(lastRequest(harness)).toContain("marmalade");
    for (const job of jobs) {
      expect(job).toMatchObject({ outcome: { code: "success" }, session_id: resume, attempts: 1 });
      const results = readFileSync(job.output_file, "utf8").match(/"type":"result"/g);
      expect(results).toHaveLength(1);
    }
    expect(processesWithMarker(first.id)).toContain(recordedPids(harness)[0]);

    await fleet.shutdown({ drainMs: 0 });
    expect(processesWithMarker(first.id)).toEqual([]);
    expect(keepAliveFolders(file)).toEqual([]);
    const transcript = await transcriptOf(harness, resume);
    const sum = jobs.reduce((usd, { cost_usd }) => usd + (cost_usd ?? 0), 0);
    expect(sum).toBeCloseTo(transcript.cost?.totalCostUsd ?? 0, 6);
    for (const { cost_usd } of jobs) expect(cost_usd).toBeGreaterThan(0);
  });
});

describe.each(testSubset(runtimes, 1))("%s", (runtime) => {
  const agents = agentOn(runtime);

  test("ends the process when its second turn is cancelled, and starts another for the third in the same session", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agents));
    const first = await runTurn(fleet, recordPidPrompt);
    const resume = sessionOf(first);
    const { job } = await fleet.jobs.trigger({ ...turnRequest, prompt: waitingToolPrompt, resume });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    await fleet.jobs.cancel(job.id);
    expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
    await waitUntil("all to be gone", async () => processesWithMarker(first.id).length === 0);

    const third = await runTurn(fleet, recordPidPrompt, { resume });
    expect(third).toMatchObject({ outcome: { code: "success" }, session_id: resume });
    const [one, two, three] = recordedPids(harness);
    expect(two).toBe(one);
    expect(three).not.toBe(one);
  });

  test("starts a new process when the runner is killed between two turns, and leaves nothing of the old one", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeKeepAliveFleetFile(harness, agents);
    const fleet = await startFleetInProcess(harness, file);
    const first = await runTurn(fleet, recordPidPrompt);
    const [claude] = recordedPids(harness);
    process.kill(first.runner?.pid ?? 0, "SIGKILL");
    await waitUntil("claude to be gone", async () => !isRunning(claude));

    const second = await runTurn(fleet, recordPidPrompt, { resume: sessionOf(first) });
    expect(second).toMatchObject({
      status: "completed",
      attempts: 1,
      session_id: sessionOf(first),
    });
    expect(new Set(recordedPids(harness)).size).toBe(2);
    expect(keepAliveFolders(file)).toHaveLength(1);
  });

  test("settles and cleans up when the runner is killed in the second turn, and resumes the same session", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, agents));
    const first = await runTurn(fleet, recordPidPrompt);
    const { job } = await fleet.jobs.trigger({
      ...turnRequest,
      prompt: waitingToolPrompt,
      resume: sessionOf(first),
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    const { runner } = await readJob(fleet, job.id);
    process.kill(runner?.pid ?? 0, "SIGKILL");

    const second = await fleet.jobs.wait(job.id);
    expect(second).toMatchObject({
      status: "completed",
      attempts: 2,
      session_id: sessionOf(first),
    });
    expect(processesWithMarker(first.id)).toEqual([]);
    const attempts = (await fleet.jobs.get(job.id))?.attempts ?? [];
    expect(attempts[0]).toMatchObject({ crashed: true });
  });
});

test("finishes the second turn when the fleet is killed, and the next fleet records it once", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeKeepAliveFleetFile(harness, oneAgentYaml);
  const before = await startFleetProcess(harness, file);
  const first = await runTurn(before.control, recordPidPrompt);
  const resume = sessionOf(first);
  const { job } = await before.control.jobs.trigger({
    ...turnRequest,
    prompt: waitingToolPrompt,
    resume,
  });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  await before.kill();

  const after = await startFleetProcess(harness, file);
  writeFileSync(join(harness.workspace, "go"), "");
  const second = await after.control.jobs.wait(job.id);
  expect(second).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
  expect(new Set(recordedPids(harness)).size).toBe(1);
  await waitUntil("all to be gone", async () => processesWithMarker(first.id).length === 0);
  await waitUntil("its folder to be gone", async () => keepAliveFolders(file).length === 0);

  const third = await runTurn(after.control, recordPidPrompt, { resume });
  expect(third).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
  await after.kill();
  await waitUntil(
    "the fleet's own to be gone",
    async () => processesWithMarker(third.id).length === 0,
  );
  await waitUntil("its folder to be gone", async () => keepAliveFolders(file).length === 0);
});

test("ends leftover processes of a tool with its turn and keeps claude and its servers", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const server = join(import.meta.dirname, "../runtimes/programs/mcp-server.mjs");
  const servers = `mcp_servers: { notes: { command: ${process.execPath}, args: [${server}] } }`;
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, `  - { name: one, runtime: cli, ${servers} }`),
  );
  const command = "echo $PPID >> pids; setsid sleep 4321 > /dev/null 2>&1 & echo $! > left";
  const first = await runTurn(fleet, toolCallPrompt(["Bash", { command }]));
  const left = Number(readFileSync(join(harness.workspace, "left"), "utf8"));
  expect(isRunning(left)).toBe(false);
  const up = processesWithMarker(first.id);
  expect(up).toContain(recordedPids(harness)[0]);
  expect(up.length).toBeGreaterThan(1);
  await runTurn(fleet, recordPidPrompt, { resume: sessionOf(first) });
  expect(processesWithMarker(first.id).sort()).toEqual(up.sort());
});

test("never shares a process or text between two conversations", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, "  - { name: one, runtime: cli, max_concurrent: 2 }"),
  );
  const begun = await Promise.all([
    runTurn(fleet, `${recordPidPrompt} marmalade`),
    runTurn(fleet, `${recordPidPrompt} liquorice`),
  ]);
  const [jam, sweet] = begun.map(sessionOf);
  expect(new Set(recordedPids(harness)).size).toBe(2);
  await runTurn(fleet, recordPidPrompt, { resume: jam });
  expect(lastRequest(harness)).toContain("marmalade");
  expect(lastRequest(harness)).not.toContain("liquorice");
  await runTurn(fleet, recordPidPrompt, { resume: sweet });
  expect(lastRequest(harness)).toContain("liquorice");
  expect(lastRequest(harness)).not.toContain("marmalade");
  expect(new Set(recordedPids(harness)).size).toBe(2);
});

test("starts a new process when files that claude read at start changed or the session grew elsewhere", async () => {
  const harness = await startHarness({ mode: "obedient" });
  writeFileSync(join(harness.workspace, "CLAUDE.md"), "Be kind.");
  const fleet = await startFleetInProcess(harness, writeKeepAliveFleetFile(harness, oneAgentYaml));
  const first = await runTurn(fleet, recordPidPrompt);
  const resume = sessionOf(first);
  writeFileSync(join(harness.workspace, "CLAUDE.md"), "Be bold.");
  await runTurn(fleet, recordPidPrompt, { resume });
  expect(lastRequest(harness)).toContain("Be bold.");
  await new Promise((done) => setTimeout(done, 1_200));

  await harness.claude("325", ["-p", "--resume", resume, "by hand: treacle"]);
  await runTurn(fleet, recordPidPrompt, { resume });
  expect(lastRequest(harness)).toContain("treacle");
  expect(new Set(recordedPids(harness)).size).toBe(3);
});

test("ends the process of a changed agent immediately, and an unused one after a while", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeKeepAliveFleetFile(harness, oneAgentYaml);
  const fleet = await startFleetInProcess(harness, file);
  const first = await runTurn(fleet, recordPidPrompt);
  const resume = sessionOf(first);
  const text = readFileSync(file, "utf8");
  const changed = "runtime: cli, model: claude-sonnet-4-5, keep_alive: { sessions: 1s }";
  writeFileSync(file, text.replace("runtime: cli", changed));
  await fleet.reload();
  await waitUntil("the old one to be gone", async () => processesWithMarker(first.id).length === 0);

  const second = await runTurn(fleet, recordPidPrompt, { resume });
  expect(lastRequest(harness)).toContain("claude-sonnet-4-5");
  const [, claude] = recordedPids(harness);
  await waitUntil("the idle one to be gone", async () => !isRunning(claude));
  expect(await runTurn(fleet, recordPidPrompt, { resume })).toMatchObject({ status: "completed" });
  expect(new Set(recordedPids(harness)).size).toBe(3);
  expect(second.session_id).toBe(resume);
});

test("keeps no more processes than the fleet allows and ends the longest idle one", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, oneAgentYaml, "max_keep_alive: 1"),
  );
  const first = await runTurn(fleet, recordPidPrompt);
  await runTurn(fleet, recordPidPrompt);
  const [one, two] = recordedPids(harness);
  await waitUntil("the first to be gone", async () => !isRunning(one));
  expect(isRunning(two)).toBe(true);
  expect(processesWithMarker(first.id)).toEqual([]);
});

test("assigns fleet tools and questions to the current turn", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const agent = "name: one, runtime: cli, permission_mode: default, tools: [report, progress]";
  const fleet = await startFleetInProcess(
    harness,
    writeKeepAliveFleetFile(harness, `  - { ${agent}, allowed_tools: [Bash(echo *)] }`),
  );
  const report = (text: string) =>
    toolCallPrompt(["mcp__herd__report", { report: { summary: text } }]);
  const first = await runTurn(fleet, report("one"));
  const resume = sessionOf(first);
  const second = await runTurn(fleet, report("two"), { resume });
  expect([first.report, second.report]).toMatchObject([{ summary: "one" }, { summary: "two" }]);

  const { job } = await fleet.jobs.trigger({
    ...turnRequest,
    prompt: toolCallPrompt(["Bash", { command: "touch x" }]),
    resume,
  });
  const [asked] = await waitUntil("the question", async () => {
    const open = await fleet.approvals.list();
    return open.length > 0 && open;
  });
  expect(asked).toMatchObject({ job_id: job.id, tool: "Bash" });
  await fleet.approvals.answer(asked?.id ?? "", "allow", { note: "a test" });
  expect(await fleet.jobs.wait(job.id)).toMatchObject({ outcome: { code: "success" } });
  expect(existsSync(join(harness.workspace, "x"))).toBe(true);
  expect(processesWithMarker(first.id)).not.toEqual([]);
});

function transcriptOf(harness: TestHarness, sessionId: string) {
  const folder = harness.workspace.replaceAll(/[^A-Za-z0-9]/g, "-");
  return readTranscript(join(harness.configDir, "projects", folder, `${sessionId}.jsonl`));
}
