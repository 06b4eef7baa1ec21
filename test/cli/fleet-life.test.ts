import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fleetStage, until } from "./fleet-stage.ts";
import { longWork, questions, runningFleet, stopWhenOver, working } from "./fleet-stage-running.ts";
import { withheldAnswers } from "./withheld-answers.ts";

test("a fleet in the background runs once, and until it is stopped", async () => {
  const on = await runningFleet();
  expect(await on.json("status")).toMatchObject({
    fleet: { name: "test", pid: on.pid, state: "running", running: 0 },
    agents: [{ name: "sdk" }, { name: "cli" }, { name: "file" }, { name: "asks" }],
  });
  for (const again of [["start"], ["start", "--detach"]]) {
    const second = await on.run(...again);
    expect(second).toMatchObject({ code: 3, stdout: "" });
    expect(second.stderr).toMatch(new RegExp(`process ${on.pid}, since `));
  }
  expect(await on.run("stop")).toMatchObject({ code: 0, stderr: "" });
  expect(await on.run("status")).toMatchObject({ code: 3 });
  const log = readFileSync(join(on.folder, ".herdctl/logs/fleet.log"), "utf8");
  expect(log).toMatch(/"msg":"starting"[\s\S]*"msg":"stopped"\}\n$/);
});

test("what is wrong with the configuration is told before anything is started", async () => {
  const on = await fleetStage();
  const { code, stderr } = await on.run("start", "--detach", "--config", "nowhere.yaml");
  expect(code).toBe(2);
  expect(stderr).toMatch(/nowhere\.yaml/);
});

test("no job notices a restart, nor does whoever watches it", async () => {
  const on = await runningFleet(working("for i in $(seq 30); do sleep 0.1; done; echo counted"));
  const watching = on.start("trigger", "cli", "-p", "count", "--wait");
  await on.untilRunning(1);
  const restarted = await on.json<{ pid: number }>("restart");
  expect(restarted.pid).not.toBe(on.pid);
  const { code, stdout } = await watching.ended;
  expect(stdout).toMatch(/counted[\s\S]*✓ success/);
  expect(stdout.match(/▸ Bash/g)).toHaveLength(1);
  expect(code).toBe(0);
  expect(on.rehearsal.ledger.main).toHaveLength(2);
});

test("Ctrl-C on a trigger that waits cancels the job; the fleet goes on", async () => {
  const on = await runningFleet(longWork);
  const watching = on.start("trigger", "cli", "-p", "go", "--wait");
  await on.untilRunning(1);
  watching.child.kill("SIGINT");
  expect(await watching.ended).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/■ cancelled/),
  });
  expect(await on.ask((fleet) => fleet.status())).toMatchObject({ fleet: { state: "running" } });
});

test("Ctrl-C before the fleet has answered cancels the job as well", async () => {
  const on = await runningFleet(longWork);
  const answers = await withheldAnswers(join(on.folder, ".herdctl/herdctl.sock"));
  const watching = on.start("trigger", "cli", "-p", "go", "--wait");
  await answers.until(1);
  watching.child.kill("SIGINT");
  answers.release();
  expect(await watching.ended).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/■ cancelled/),
  });
  expect(await on.ask((fleet) => fleet.jobs({ limit: 9 }))).toMatchObject({
    jobs: [{ status: "cancelled" }],
  });
});

test("in the foreground it tells what happens, and ends when what runs has ended", async () => {
  const on = await fleetStage(working("for i in $(seq 15); do sleep 0.1; done; echo over"));
  stopWhenOver(on);
  const { ask, give, untilRunning } = questions(on);
  const fleet = on.start("start");
  await until(() => ask((it) => it.status()).catch(() => undefined));
  const id = await give("cli", "go");
  await untilRunning(1);
  fleet.child.kill("SIGTERM");
  const { code, stdout } = await fleet.ended;
  expect(code).toBe(0);
  const told = [`○ ${id}  go`, "◐ started  go", "▸ Bash", "■ stopping", "✓ success"];
  expect(told.filter((text) => !stdout.includes(text))).toEqual([]);
});

test("a stop at once interrupts what runs", async () => {
  const on = await runningFleet(longWork);
  const id = await on.give("cli", "go");
  await on.untilRunning(1);
  expect(await on.run("stop", "--now")).toMatchObject({ code: 0 });
  expect(await on.json("job", id)).toMatchObject({ outcome: { code: "interrupted" } });
});

test("a second signal does not wait for what runs either", async () => {
  const on = await fleetStage(longWork);
  stopWhenOver(on);
  const { ask, give, json, untilRunning } = questions(on);
  const fleet = on.start("start", "--json");
  await until(() => ask((it) => it.status()).catch(() => undefined));
  const id = await give("cli", "go");
  await untilRunning(1);
  fleet.child.kill("SIGTERM");
  await until(async () => (await ask((it) => it.status())).fleet.state === "draining");
  fleet.child.kill("SIGTERM");
  const { code, stdout } = await fleet.ended;
  expect(code).toBe(0);
  const types = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(types).toEqual(expect.arrayContaining(["fleet:started", "job:created", "fleet:stopping"]));
  expect(await json("job", id)).toMatchObject({ outcome: { code: "interrupted" } });
});

test("what it finds of an earlier fleet is told below its banner", async () => {
  const on = await fleetStage(longWork);
  stopWhenOver(on);
  const { ask, give, job } = questions(on);
  const first = on.start("start");
  await until(() => ask((it) => it.status()).catch(() => undefined));
  const id = await give("cli", "go");
  await until(() => on.rehearsal.ledger.main.length > 0);
  const runner = await until(async () => (await job(id)).runner);
  first.child.kill("SIGKILL");
  await first.ended;
  process.kill(runner.pid, "SIGKILL");

  const second = on.start("start");
  let told = "";
  second.child.stdout?.on("data", (text) => {
    told += text;
  });
  await until(() => told.includes("◔ interrupted until"));
  expect(told).toMatch(/^● test .*\n[\s\S]*listens on [\s\S]*◔ interrupted until/);
  await on.run("stop", "--now");
});
