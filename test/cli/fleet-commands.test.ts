import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Approval, Job } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetStage, until } from "./fleet-stage.ts";
import { runningFleet, working } from "./fleet-stage-running.ts";

const long = working("for i in $(seq 200); do sleep 0.1; done");

test.each([
  ["status"],
  ["stop"],
  ["restart"],
  ["reload"],
  ["top"],
  ["pause", "cli"],
  ["resume", "cli"],
  ["cancel", "cli"],
  ["approvals", "allow", "x"],
])("`%s` without a fleet says so with exit code 3", async (...args) => {
  const on = await fleetStage();
  const run = await on.run(...args);
  expect(run).toMatchObject({ code: 3, stdout: "" });
  expect(run.stderr).toMatch(/no fleet runs here\n.*herdctl start/);
  expect(JSON.parse((await on.run(...args, "--json")).stdout)).toMatchObject({
    errors: [{ code: "fleet_unreachable" }],
  });
});

test("a fleet in the background does what it is given until it is stopped", async () => {
  const on = await runningFleet();
  expect(await on.status()).toMatchObject({
    fleet: { name: "test", pid: on.pid, state: "running", running: 0 },
    agents: [{ name: "sdk" }, { name: "cli" }, { name: "file" }, { name: "asks" }],
  });
  for (const again of [["start"], ["start", "--detach"]]) {
    const second = await on.run(...again);
    expect(second).toMatchObject({ code: 3, stdout: "" });
    expect(second.stderr).toMatch(new RegExp(`process ${on.pid}, since `));
  }
  const job = await on.trigger("sdk", "-p", "hello");
  expect(job).toMatchObject({ status: "completed", outcome: { code: "success" } });
  expect((await on.run("status")).stdout).toMatch(/^sdk .*✓ success/m);
  expect((await on.run("status", "sdk")).stdout).toContain(job.id);
  expect(await on.run("status", "nobody")).toMatchObject({ code: 2 });
  const stopped = await on.run("stop");
  expect(stopped).toMatchObject({ code: 0, stderr: "" });
  expect(await on.run("status")).toMatchObject({ code: 3 });
  const log = readFileSync(join(on.folder, ".herdctl/logs/fleet.log"), "utf8");
  expect(log).toContain(job.id);
  expect(log).toMatch(/"msg":"stopped"\}\n$/);
});

test("without --wait a trigger returns as soon as the fleet has the job", async () => {
  const on = await runningFleet();
  const { stdout, code } = await on.run("trigger", "cli", "-p", "hello");
  expect(code).toBe(0);
  const job = await until(async () => {
    const seen = await on.job(stdout.trim());
    return seen.finished_at === null ? undefined : seen;
  });
  expect(job.outcome?.code).toBe("success");
});

test("no job notices a restart, nor does whoever watches it", async () => {
  const on = await runningFleet(working("for i in $(seq 30); do sleep 0.1; done; echo counted"));
  const watching = on.start("trigger", "cli", "-p", "count", "--wait");
  await until(async () => (await on.status()).fleet.running === 1);
  const restarted = await on.json<{ pid: number }>("restart");
  expect(restarted.pid).not.toBe(on.pid);
  const { code, stdout } = await watching.ended;
  expect(stdout).toMatch(/counted[\s\S]*✓ success/);
  expect(stdout.match(/▸ Bash/g)).toHaveLength(1);
  expect(code).toBe(0);
  expect(on.rehearsal.ledger.main).toHaveLength(2);
});

test("an agent's questions are listed whole and answered by id", async () => {
  const on = await runningFleet(working("touch allowed\\x1b[8m"));
  const openOnes = () => on.json<{ approvals: Approval[] }>("approvals", "list");
  const allowed = on.start("trigger", "asks", "-p", "go", "--wait", "--json");
  const [first] = await until(async () => {
    const { approvals } = await openOnes();
    return approvals.length > 0 ? approvals : undefined;
  });
  const shown = await on.run("approvals");
  expect(shown.stdout).toMatch(
    /asks asks to use Bash[\s\S]*touch allowed[\s\S]*herdctl approvals deny/,
  );
  const short = first?.id.slice("approval-".length, -2) ?? "";
  expect(await on.run("approvals", "allow", short)).toMatchObject({ code: 0 });
  expect(JSON.parse((await allowed.ended).stdout)).toMatchObject({ outcome: { code: "success" } });
  expect(await openOnes()).toEqual({ approvals: [] });
  expect(await on.run("approvals", "allow", short)).toMatchObject({ code: 2 });

  const denied = on.start("trigger", "asks", "-p", "go", "--wait", "--json");
  await until(async () => (await on.run("approvals", "deny", "approval-")).code === 0);
  expect(JSON.parse((await denied.ended).stdout)).toMatchObject({
    outcome: { code: "finished_with_denials" },
  });
});

test("a paused agent keeps what it is given until it is resumed", async () => {
  const on = await runningFleet();
  expect(await on.run("pause", "cli")).toMatchObject({ code: 0 });
  const id = await on.give("cli", "-p", "hello");
  const other = await on.trigger("sdk", "-p", "hello");
  expect(other.status).toBe("completed");
  expect(await on.job(id)).toMatchObject({ status: "pending" });
  expect((await on.run("status")).stdout).toMatch(/^cli .*‖ paused/m);
  expect(await on.run("resume", "cli")).toMatchObject({ code: 0 });
  await until(async () => (await on.job(id)).status === "completed");
});

test("a job is cancelled by its id, and an agent with all it has to do", async () => {
  const on = await runningFleet(long);
  const ids = [];
  for (const prompt of ["one", "two", "three"]) ids.push(await on.give("cli", "-p", prompt));
  await until(async () => (await on.status()).fleet.running === 1);
  const last = ids.at(-1) ?? "";
  expect(await on.run("cancel", last)).toMatchObject({ code: 0 });
  expect(await on.job(last)).toMatchObject({ status: "cancelled" });
  const { jobs } = await on.json<{ jobs: Job[] }>("cancel", "cli");
  expect(jobs.map((job) => job.id).sort()).toEqual(ids.slice(0, 2).sort());
  for (const id of ids) await until(async () => (await on.job(id)).status === "cancelled");
  expect(await on.run("cancel", "cli")).toMatchObject({ code: 0, stdout: /nothing to do/ });
  expect(await on.run("cancel", "job-nothere")).toMatchObject({ code: 2 });
});

test("a reload tells what changed; a wrong file leaves all as it was", async () => {
  const on = await runningFleet();
  const file = join(on.folder, "herdctl.yaml");
  const good = readFileSync(file, "utf8");
  writeFileSync(file, good.replace("name: asks", "name: newcomer"));
  const { stdout, code } = await on.run("reload");
  expect(code).toBe(0);
  expect(stdout).toMatch(/4 agents\n.*\+ newcomer\n.*- asks/);
  writeFileSync(file, good.replace("runtime: cli", "runtime: clay").replace("agents:", "agentz:"));
  const wrong = await on.run("reload");
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toMatch(/herdctl\.yaml:\d+:\d+/);
  expect(await on.status()).toMatchObject({ agents: { length: 4 }, fleet: { state: "running" } });
  expect((await on.run("status")).stdout).toMatch(/^! .*herdctl\.yaml/m);
});

test("a stop waits for what runs; a stop at once interrupts it", async () => {
  const on = await runningFleet(working("for i in $(seq 10); do sleep 0.1; done; touch finished"));
  const first = await on.give("cli", "-p", "go");
  await until(async () => (await on.status()).fleet.running === 1);
  expect(await on.run("stop")).toMatchObject({ code: 0 });
  expect(existsSync(join(on.workspace, "finished"))).toBe(true);
  expect(await on.job(first)).toMatchObject({ outcome: { code: "success" } });
});
