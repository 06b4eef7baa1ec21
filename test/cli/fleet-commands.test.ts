import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@herdctl/protocol";
import { expect, test } from "vitest";
import { startCliHarness, waitUntil } from "./cli-harness.ts";
import {
  bashScript,
  fleetQueries,
  longRunningScript,
  startRunningFleet,
  stopAfterTest,
} from "./running-fleet.ts";

const commandsThatNeedAFleet = [
  ["status"],
  ["stop"],
  ["restart"],
  ["reload"],
  ["top"],
  ["pause", "cli"],
  ["resume", "cli"],
  ["cancel", "cli"],
  ["approvals", "allow", "x"],
];

test("exits with code 3 when a command needs a fleet and none runs", async () => {
  const harness = await startCliHarness();
  const runs = await Promise.all(commandsThatNeedAFleet.map((args) => harness.run(...args)));
  for (const run of runs) {
    expect(run).toMatchObject({ code: 3, stdout: "" });
    expect(run.stderr).toMatch(/the fleet is not running\n.*herdctl start/);
  }
  const { stdout } = await harness.run("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ errors: [{ code: "fleet_unreachable" }] });
});

test("shows a triggered job in status, jobs, job and logs", async () => {
  const harness = await startRunningFleet(bashScript("echo apples"));
  const job = await harness.trigger("sdk", "-p", "hello");
  expect(job).toMatchObject({ status: "completed", outcome: { code: "success" } });
  const [status, agent, jobs, record, logs, nobody] = await Promise.all([
    harness.run("status"),
    harness.run("status", "sdk"),
    harness.json<{ jobs: Job[] }>("jobs"),
    harness.json<Job>("job", job.id.slice(0, -2)),
    harness.run("logs", "-f", "sdk"),
    harness.run("status", "nobody"),
  ]);
  expect(status.stdout).toMatch(/^sdk .*✓ success/m);
  expect(agent.stdout).toContain(job.id);
  expect(jobs.jobs).toEqual([job]);
  expect(record).toEqual(job);
  expect(logs.stdout).toMatch(/▸ Bash {2}echo apples\n.*apples[\s\S]*✓ success/);
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringMatching(/sdk, cli, file, asks/) });
});

test("returns from a trigger without --wait once the fleet has the job", async () => {
  const harness = await startRunningFleet();
  const { stdout, code } = await harness.run("trigger", "cli", "-p", "hello", "--key", "k");
  expect(code).toBe(0);
  expect(await harness.waitForJob(stdout.trim())).toMatchObject({ outcome: { code: "success" } });
  const again = await harness.run(
    "trigger",
    "cli",
    "-p",
    "hello",
    "--key",
    "k",
    "--wait",
    "--json",
  );
  expect(JSON.parse(again.stdout)).toMatchObject({ id: stdout.trim(), status: "completed" });
  expect(harness.rehearsal.ledger.main).toHaveLength(1);
});

test("lists an agent's questions in full and answers them by id", async () => {
  const harness = await startRunningFleet(bashScript("touch allowed"));
  const open = () => harness.withControl((fleet) => fleet.approvals.list());
  const first = await harness.triggerJob("asks", "go");
  const [asked] = await waitUntil(async () => {
    const approvals = await open();
    return approvals.length > 0 ? approvals : undefined;
  });
  const shown = await harness.run("approvals");
  expect(shown.stdout).toMatch(/asks wants to use Bash[\s\S]*touch allowed[\s\S]*approvals deny/);
  const short = asked?.id.slice("approval-".length, -2) ?? "";
  expect(await harness.run("approvals", "allow", short)).toMatchObject({ code: 0 });
  expect(await harness.waitForJob(first)).toMatchObject({ outcome: { code: "success" } });
  expect(await harness.json("approvals", "list")).toEqual({ approvals: [] });
  expect(await harness.run("approvals", "allow", short)).toMatchObject({ code: 2 });

  const second = await harness.triggerJob("asks", "go");
  await waitUntil(async () => (await open()).length > 0);
  expect(await harness.run("approvals", "deny", "approval-")).toMatchObject({ code: 0 });
  expect(await harness.waitForJob(second)).toMatchObject({
    outcome: { code: "finished_with_denials" },
  });
});

test("queues the jobs of a paused agent until it is resumed", async () => {
  const harness = await startRunningFleet();
  expect(await harness.run("pause", "cli")).toMatchObject({ code: 0 });
  const id = await harness.triggerJob("cli", "hello");
  expect(await harness.waitForJob(await harness.triggerJob("sdk", "hello"))).toMatchObject({
    status: "completed",
  });
  expect(await harness.job(id)).toMatchObject({ status: "pending" });
  expect((await harness.run("status")).stdout).toMatch(/^cli .*‖ paused/m);
  expect(await harness.run("resume", "cli")).toMatchObject({ code: 0 });
  expect(await harness.waitForJob(id)).toMatchObject({ status: "completed" });
});

test("cancels one job by id, or all jobs of an agent", async () => {
  const harness = await startRunningFleet(longRunningScript);
  const ids: string[] = [];
  for (const prompt of ["one", "two", "three"]) ids.push(await harness.triggerJob("cli", prompt));
  await harness.waitUntilRunning(1);
  const last = ids.at(-1) ?? "";
  expect(await harness.run("cancel", last)).toMatchObject({ code: 0 });
  expect(await harness.job(last)).toMatchObject({ status: "cancelled" });
  const result = await harness.json("cancel", "cli");
  expect(result).toEqual({ agent: "cli", cancelled: 1, stopping: 1 });
  for (const id of ids) expect(await harness.waitForJob(id)).toMatchObject({ status: "cancelled" });
  const nothing = await harness.run("cancel", "cli");
  expect(nothing).toMatchObject({ code: 0, stdout: "cli has no jobs to cancel.\n" });
  expect(await harness.run("cancel", "job-nothere")).toMatchObject({ code: 2 });
});

test("prints the changes of a reload and keeps everything after an invalid file", async () => {
  const harness = await startCliHarness();
  const file = join(harness.folder, "herdctl.yaml");
  // Otherwise the watcher may apply the change before the command does.
  const good = readFileSync(file, "utf8").replace("name: test", "name: test, watch: false");
  writeFileSync(file, good);
  stopAfterTest(harness);
  expect(await harness.run("start", "--detach")).toMatchObject({ code: 0 });
  writeFileSync(file, good.replace("name: asks", "name: newcomer"));
  const { stdout, code } = await harness.run("reload");
  expect(code).toBe(0);
  expect(stdout).toMatch(/4 agents\n.*\+ newcomer\n.*- asks/);
  writeFileSync(file, good.replace("runtime: sdk", "runtime: sdkk"));
  const wrong = await harness.run("reload");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/herdctl\.yaml:\d+:\d+/);
  const { agents, fleet } = await fleetQueries(harness).withControl((it) => it.status());
  expect(agents.map((agent) => agent.name)).toContain("newcomer");
  expect(fleet.problem).not.toBeNull();
});
