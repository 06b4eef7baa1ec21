import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { readTranscript } from "../../packages/core/src/runner/runtime/session-file/read-transcript.ts";
import { readProcess } from "../../packages/core/src/runner/sweep/process-table.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";

const turn = { trigger: "manual" as const, agent: "one", live: true };
const oneAgent = "  - { name: one, runtime: cli }";

/** Notes which process it is in: a tool is a child of its claude. */
const whoIsIt = obey(["Bash", { command: "echo $PPID >> pids" }]);
const patient = obey([
  "Bash",
  { command: "echo $PPID >> pids; echo x >> began; while [ ! -e go ]; do sleep 0.05; done" },
]);

type Asked = Parameters<FleetControl["trigger"]>[0];

async function say(
  fleet: Pick<FleetControl, "trigger" | "wait">,
  prompt: string,
  more: Partial<Asked> = {},
): Promise<Job> {
  const { job } = await fleet.trigger({ ...turn, prompt, ...more });
  return fleet.wait(job.id);
}

function sessionOf(job: Job): string {
  return job.session_id ?? expect.fail("it has no session");
}

/** Of each turn that noted it, the process. */
function pidsIn(on: Stage): number[] {
  const file = join(on.workspace, "pids");
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").map(Number) : [];
}

function isUp(pid = 0): boolean {
  return readProcess(pid, "linux") !== undefined;
}

function liveFolders(file: string): string[] {
  const folder = join(dirname(file), ".herdctl", "live");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function lastRequest(on: Stage): string {
  return JSON.stringify(on.rehearsal.ledger.main.at(-1)?.body);
}

const runtimes = ["sdk", "cli"];
const agentOn = (runtime: string) => `  - { name: one, runtime: ${runtime} }`;

describe.each(runtimes)("%s", (runtime) => {
  test("three turns are one claude and three jobs, each with its own output and cost", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agentOn(runtime));
    const fleet = await startFleet(on, file);
    const first = await say(fleet, `${whoIsIt} marmalade`);
    const resume = sessionOf(first);
    const second = await say(fleet, whoIsIt, { resume });
    const third = await say(fleet, whoIsIt, { resume });

    const jobs = [first, second, third];
    expect(new Set(pidsIn(on)).size).toBe(1);
    expect(pidsIn(on)).toHaveLength(3);
    expect(lastRequest(on)).toContain("marmalade");
    for (const job of jobs) {
      expect(job).toMatchObject({ outcome: { code: "success" }, session_id: resume, attempts: 1 });
      const results = readFileSync(job.output_file, "utf8").match(/"type":"result"/g);
      expect(results).toHaveLength(1);
    }
    expect(processesWith(first.id)).toContain(pidsIn(on)[0]);

    await fleet.stop({ drainMs: 0 });
    expect(processesWith(first.id)).toEqual([]);
    expect(liveFolders(file)).toEqual([]);
    const transcript = await transcriptOf(on, resume);
    const sum = jobs.reduce((usd, { cost_usd }) => usd + (cost_usd ?? 0), 0);
    expect(sum).toBeCloseTo(transcript.cost?.totalCostUsd ?? 0, 6);
    for (const { cost_usd } of jobs) expect(cost_usd).toBeGreaterThan(0);
  });
});

describe.each(sliceOf(runtimes, 1))("%s", (runtime) => {
  const agents = agentOn(runtime);

  test("cancelled in its second turn, all of it ends, and the third begins anew in the same session", async () => {
    const on = await stage({ mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, agents));
    const first = await say(fleet, whoIsIt);
    const resume = sessionOf(first);
    const { job } = await fleet.trigger({ ...turn, prompt: patient, resume });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    await fleet.cancel(job.id);
    expect(await fleet.wait(job.id)).toMatchObject({ status: "cancelled", attempts: 1 });
    await until("all to be gone", async () => processesWith(first.id).length === 0);

    const third = await say(fleet, whoIsIt, { resume });
    expect(third).toMatchObject({ outcome: { code: "success" }, session_id: resume });
    const [one, two, three] = pidsIn(on);
    expect(two).toBe(one);
    expect(three).not.toBe(one);
  });

  test("the runner is killed between two turns: the next one starts anew, and nothing is left of the old", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agents);
    const fleet = await startFleet(on, file);
    const first = await say(fleet, whoIsIt);
    const [claude] = pidsIn(on);
    process.kill(first.runner?.pid ?? 0, "SIGKILL");
    await until("claude to be gone", async () => !isUp(claude));

    const second = await say(fleet, whoIsIt, { resume: sessionOf(first) });
    expect(second).toMatchObject({
      status: "completed",
      attempts: 1,
      session_id: sessionOf(first),
    });
    expect(new Set(pidsIn(on)).size).toBe(2);
    expect(liveFolders(file)).toHaveLength(1);
  });

  test("the runner is killed in the second turn: it is settled, swept, and goes on in the same session", async () => {
    const on = await stage({ mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, agents));
    const first = await say(fleet, whoIsIt);
    const { job } = await fleet.trigger({ ...turn, prompt: patient, resume: sessionOf(first) });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    const { runner } = await jobNow(fleet, job.id);
    process.kill(runner?.pid ?? 0, "SIGKILL");

    const second = await fleet.wait(job.id);
    expect(second).toMatchObject({
      status: "completed",
      attempts: 2,
      session_id: sessionOf(first),
    });
    expect(processesWith(first.id)).toEqual([]);
    const attempts = (await fleet.job(job.id))?.attempts ?? [];
    expect(attempts[0]).toMatchObject({ crashed: true });
  });
});

test("the fleet is killed in the second turn: it goes on, the next fleet records it once, then all goes", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, oneAgent);
  const before = await fleetProgram(on, file);
  const first = await say(before.control, whoIsIt);
  const resume = sessionOf(first);
  const { job } = await before.control.trigger({ ...turn, prompt: patient, resume });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  await before.kill();

  const after = await fleetProgram(on, file);
  writeFileSync(join(on.workspace, "go"), "");
  const second = await after.control.wait(job.id);
  expect(second).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
  expect(new Set(pidsIn(on)).size).toBe(1);
  await until("all to be gone", async () => processesWith(first.id).length === 0);
  await until("its folder to be gone", async () => liveFolders(file).length === 0);

  const third = await say(after.control, whoIsIt, { resume });
  expect(third).toMatchObject({ status: "completed", attempts: 1, session_id: resume });
  await after.kill();
  await until("the fleet's own to be gone", async () => processesWith(third.id).length === 0);
  await until("its folder to be gone", async () => liveFolders(file).length === 0);
});

test("what a tool leaves behind ends with its turn; claude and its servers stay", async () => {
  const on = await stage({ mode: "obedient" });
  const server = join(import.meta.dirname, "../runtime/programs/mcp-server.mjs");
  const servers = `mcp_servers: { notes: { command: ${process.execPath}, args: [${server}] } }`;
  const fleet = await startFleet(on, fleetFile(on, `  - { name: one, runtime: cli, ${servers} }`));
  const command = "echo $PPID >> pids; setsid sleep 4321 > /dev/null 2>&1 & echo $! > left";
  const first = await say(fleet, obey(["Bash", { command }]));
  const left = Number(readFileSync(join(on.workspace, "left"), "utf8"));
  expect(isUp(left)).toBe(false);
  const up = processesWith(first.id);
  expect(up).toContain(pidsIn(on)[0]);
  expect(up.length).toBeGreaterThan(1);
  await say(fleet, whoIsIt, { resume: sessionOf(first) });
  expect(processesWith(first.id).sort()).toEqual(up.sort());
});

test("two conversations never share a claude, nor a word", async () => {
  const on = await stage({ mode: "obedient" });
  const fleet = await startFleet(
    on,
    fleetFile(on, "  - { name: one, runtime: cli, max_concurrent: 2 }"),
  );
  const begun = await Promise.all([
    say(fleet, `${whoIsIt} marmalade`),
    say(fleet, `${whoIsIt} liquorice`),
  ]);
  const [jam, sweet] = begun.map(sessionOf);
  expect(new Set(pidsIn(on)).size).toBe(2);
  await say(fleet, whoIsIt, { resume: jam });
  expect(lastRequest(on)).toContain("marmalade");
  expect(lastRequest(on)).not.toContain("liquorice");
  await say(fleet, whoIsIt, { resume: sweet });
  expect(lastRequest(on)).toContain("liquorice");
  expect(lastRequest(on)).not.toContain("marmalade");
  expect(new Set(pidsIn(on)).size).toBe(2);
});

test("what claude has read at its start has changed, or the session has grown elsewhere: it begins anew", async () => {
  const on = await stage({ mode: "obedient" });
  writeFileSync(join(on.workspace, "CLAUDE.md"), "Be kind.");
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const first = await say(fleet, whoIsIt);
  const resume = sessionOf(first);
  writeFileSync(join(on.workspace, "CLAUDE.md"), "Be bold.");
  await say(fleet, whoIsIt, { resume });
  expect(lastRequest(on)).toContain("Be bold.");
  await new Promise((done) => setTimeout(done, 1_200));

  await on.claude("325", ["-p", "--resume", resume, "by hand: treacle"]);
  await say(fleet, whoIsIt, { resume });
  expect(lastRequest(on)).toContain("treacle");
  expect(new Set(pidsIn(on)).size).toBe(3);
});

test("a changed agent loses its claude at once; one that is not needed goes after a while", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, oneAgent);
  const fleet = await startFleet(on, file);
  const first = await say(fleet, whoIsIt);
  const resume = sessionOf(first);
  const text = readFileSync(file, "utf8");
  const changed = "runtime: cli, model: claude-sonnet-4-5, session: { live: 1s }";
  writeFileSync(file, text.replace("runtime: cli", changed));
  await fleet.reload();
  await until("the old one to be gone", async () => processesWith(first.id).length === 0);

  const second = await say(fleet, whoIsIt, { resume });
  expect(lastRequest(on)).toContain("claude-sonnet-4-5");
  const [, claude] = pidsIn(on);
  await until("the idle one to be gone", async () => !isUp(claude));
  expect(await say(fleet, whoIsIt, { resume })).toMatchObject({ status: "completed" });
  expect(new Set(pidsIn(on)).size).toBe(3);
  expect(second.session_id).toBe(resume);
});

test("no more stay up than the fleet says: the one that waited longest goes", async () => {
  const on = await stage({ mode: "obedient" });
  const fleet = await startFleet(on, fleetFile(on, oneAgent, "live: 1"));
  const first = await say(fleet, whoIsIt);
  await say(fleet, whoIsIt);
  const [one, two] = pidsIn(on);
  await until("the first to be gone", async () => !isUp(one));
  expect(isUp(two)).toBe(true);
  expect(processesWith(first.id)).toEqual([]);
});

test("tools of the fleet and questions to people belong to the turn of the moment", async () => {
  const on = await stage({ mode: "obedient" });
  const agent = "name: one, runtime: cli, permission_mode: default, tools: [report, progress]";
  const fleet = await startFleet(
    on,
    fleetFile(on, `  - { ${agent}, allowed_tools: [Bash(echo *)] }`),
  );
  const report = (text: string) => obey(["mcp__herd__report", { report: { summary: text } }]);
  const first = await say(fleet, report("one"));
  const resume = sessionOf(first);
  const second = await say(fleet, report("two"), { resume });
  expect([first.report, second.report]).toMatchObject([{ summary: "one" }, { summary: "two" }]);

  const { job } = await fleet.trigger({
    ...turn,
    prompt: obey(["Bash", { command: "touch x" }]),
    resume,
  });
  const [asked] = await until("the question", async () => {
    const open = await fleet.approvals();
    return open.length > 0 && open;
  });
  expect(asked).toMatchObject({ job_id: job.id, tool: "Bash" });
  await fleet.answer(asked?.id ?? "", "allow", "a test");
  expect(await fleet.wait(job.id)).toMatchObject({ outcome: { code: "success" } });
  expect(existsSync(join(on.workspace, "x"))).toBe(true);
  expect(processesWith(first.id)).not.toEqual([]);
});

function transcriptOf(on: Stage, sessionId: string) {
  const folder = on.workspace.replaceAll(/[^A-Za-z0-9]/g, "-");
  return readTranscript(join(on.configDir, "projects", folder, `${sessionId}.jsonl`));
}
