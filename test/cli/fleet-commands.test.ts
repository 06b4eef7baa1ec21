import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetStage, until } from "./fleet-stage.ts";
import { longWork, questions, runningFleet, stopWhenOver, working } from "./fleet-stage-running.ts";

const needFleet = [
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

test("what needs a fleet says so with exit code 3", async () => {
  const on = await fleetStage();
  const runs = await Promise.all(needFleet.map((args) => on.run(...args)));
  for (const run of runs) {
    expect(run).toMatchObject({ code: 3, stdout: "" });
    expect(run.stderr).toMatch(/no fleet runs here\n.*herdctl start/);
  }
  const { stdout } = await on.run("status", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ errors: [{ code: "fleet_unreachable" }] });
});

test("what it does is seen by status, jobs, job and logs", async () => {
  const on = await runningFleet(working("echo apples"));
  const job = await on.trigger("sdk", "-p", "hello");
  expect(job).toMatchObject({ status: "completed", outcome: { code: "success" } });
  const [status, agent, jobs, record, logs, nobody] = await Promise.all([
    on.run("status"),
    on.run("status", "sdk"),
    on.json<{ jobs: Job[] }>("jobs"),
    on.json<Job>("job", job.id.slice(0, -2)),
    on.run("logs", "-f", "sdk"),
    on.run("status", "nobody"),
  ]);
  expect(status.stdout).toMatch(/^sdk .*✓ success/m);
  expect(agent.stdout).toContain(job.id);
  expect(jobs.jobs).toEqual([job]);
  expect(record).toEqual(job);
  expect(logs.stdout).toMatch(/▸ Bash {2}echo apples\n.*apples[\s\S]*✓ success/);
  expect(nobody).toMatchObject({ code: 2, stderr: expect.stringMatching(/sdk, cli, file, asks/) });
});

test("without --wait a trigger returns once the fleet has the job", async () => {
  const on = await runningFleet();
  const { stdout, code } = await on.run("trigger", "cli", "-p", "hello", "--key", "k");
  expect(code).toBe(0);
  expect(await on.ended(stdout.trim())).toMatchObject({ outcome: { code: "success" } });
  const again = await on.run("trigger", "cli", "-p", "hello", "--key", "k", "--wait", "--json");
  expect(JSON.parse(again.stdout)).toMatchObject({ id: stdout.trim(), status: "completed" });
  expect(on.rehearsal.ledger.main).toHaveLength(1);
});

test("an agent's questions are listed whole and answered by id", async () => {
  const on = await runningFleet(working("touch allowed"));
  const open = () => on.ask((fleet) => fleet.approvals());
  const first = await on.give("asks", "go");
  const [asked] = await until(async () => {
    const approvals = await open();
    return approvals.length > 0 ? approvals : undefined;
  });
  const shown = await on.run("approvals");
  expect(shown.stdout).toMatch(/asks asks to use Bash[\s\S]*touch allowed[\s\S]*approvals deny/);
  const short = asked?.id.slice("approval-".length, -2) ?? "";
  expect(await on.run("approvals", "allow", short)).toMatchObject({ code: 0 });
  expect(await on.ended(first)).toMatchObject({ outcome: { code: "success" } });
  expect(await on.json("approvals", "list")).toEqual({ approvals: [] });
  expect(await on.run("approvals", "allow", short)).toMatchObject({ code: 2 });

  const second = await on.give("asks", "go");
  await until(async () => (await open()).length > 0);
  expect(await on.run("approvals", "deny", "approval-")).toMatchObject({ code: 0 });
  expect(await on.ended(second)).toMatchObject({ outcome: { code: "finished_with_denials" } });
});

test("a paused agent keeps what it is given until it is resumed", async () => {
  const on = await runningFleet();
  expect(await on.run("pause", "cli")).toMatchObject({ code: 0 });
  const id = await on.give("cli", "hello");
  expect(await on.ended(await on.give("sdk", "hello"))).toMatchObject({ status: "completed" });
  expect(await on.job(id)).toMatchObject({ status: "pending" });
  expect((await on.run("status")).stdout).toMatch(/^cli .*‖ paused/m);
  expect(await on.run("resume", "cli")).toMatchObject({ code: 0 });
  expect(await on.ended(id)).toMatchObject({ status: "completed" });
});

test("a job is cancelled by its id, and an agent with all it has to do", async () => {
  const on = await runningFleet(longWork);
  const ids: string[] = [];
  for (const prompt of ["one", "two", "three"]) ids.push(await on.give("cli", prompt));
  await on.untilRunning(1);
  const last = ids.at(-1) ?? "";
  expect(await on.run("cancel", last)).toMatchObject({ code: 0 });
  expect(await on.job(last)).toMatchObject({ status: "cancelled" });
  const { jobs } = await on.json<{ jobs: Job[] }>("cancel", "cli");
  expect(jobs.map((job) => job.id)).toEqual(ids.slice(0, 2));
  for (const id of ids) expect(await on.ended(id)).toMatchObject({ status: "cancelled" });
  const nothing = await on.run("cancel", "cli");
  expect(nothing).toMatchObject({ code: 0, stdout: "cli has nothing to do.\n" });
  expect(await on.run("cancel", "job-nothere")).toMatchObject({ code: 2 });
});

test("a reload tells what changed; a wrong file leaves all as it was", async () => {
  const on = await fleetStage();
  const file = join(on.folder, "herdctl.yaml");
  // Else the fleet may have seen the change by itself before the command asks.
  const good = readFileSync(file, "utf8").replace("name: test", "name: test, watch: false");
  writeFileSync(file, good);
  stopWhenOver(on);
  expect(await on.run("start", "--detach")).toMatchObject({ code: 0 });
  writeFileSync(file, good.replace("name: asks", "name: newcomer"));
  const { stdout, code } = await on.run("reload");
  expect(code).toBe(0);
  expect(stdout).toMatch(/4 agents\n.*\+ newcomer\n.*- asks/);
  writeFileSync(file, good.replace("runtime: sdk", "runtime: sdkk"));
  const wrong = await on.run("reload");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/herdctl\.yaml:\d+:\d+/);
  const { agents, fleet } = await questions(on).ask((it) => it.status());
  expect(agents.map((agent) => agent.name)).toContain("newcomer");
  expect(fleet.problem).not.toBeNull();
});
