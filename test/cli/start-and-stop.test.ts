import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startCliHarness, waitUntil } from "./cli-harness.ts";
import {
  bashScript,
  fleetQueries,
  longRunningScript,
  startRunningFleet,
  stopAfterTest,
} from "./running-fleet.ts";
import { withholdResponses } from "./withhold-responses.ts";

test("runs one fleet in the background until it is stopped", async () => {
  const harness = await startRunningFleet();
  expect(await harness.json("status")).toMatchObject({
    fleet: { name: "test", pid: harness.pid, state: "running", running: 0 },
    agents: [{ name: "sdk" }, { name: "cli" }, { name: "file" }, { name: "asks" }],
  });
  for (const again of [["start"], ["start", "--detach"]]) {
    const second = await harness.run(...again);
    expect(second).toMatchObject({ code: 3, stdout: "" });
    expect(second.stderr).toMatch(new RegExp(`process ${harness.pid}, since `));
  }
  expect(await harness.run("stop")).toMatchObject({ code: 0, stderr: "" });
  expect(await harness.run("status")).toMatchObject({ code: 3 });
  const log = readFileSync(join(harness.folder, ".herdctl/logs/fleet.log"), "utf8");
  expect(log).toMatch(/"msg":"starting"[\s\S]*"msg":"stopped"\}\n$/);
});

test("reports configuration errors before starting anything", async () => {
  const harness = await startCliHarness();
  const { code, stderr } = await harness.run("start", "--detach", "--config", "nowhere.yaml");
  expect(code).toBe(2);
  expect(stderr).toMatch(/nowhere\.yaml/);
});

test("keeps jobs and waiting commands through a restart", async () => {
  const harness = await startRunningFleet(
    bashScript("for i in $(seq 30); do sleep 0.1; done; echo counted"),
  );
  const watching = harness.start("trigger", "cli", "-p", "count", "--wait");
  await harness.waitUntilRunning(1);
  const restarted = await harness.json<{ pid: number }>("restart");
  expect(restarted.pid).not.toBe(harness.pid);
  const { code, stdout } = await watching.exited;
  expect(stdout).toMatch(/counted[\s\S]*✓ success/);
  expect(stdout.match(/▸ Bash/g)).toHaveLength(1);
  expect(code).toBe(0);
  expect(harness.rehearsal.ledger.main).toHaveLength(2);
});

test("cancels the job of a waiting trigger on Ctrl-C and keeps the fleet running", async () => {
  const harness = await startRunningFleet(longRunningScript);
  const watching = harness.start("trigger", "cli", "-p", "go", "--wait");
  await harness.waitUntilRunning(1);
  watching.child.kill("SIGINT");
  expect(await watching.exited).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/■ cancelled/),
  });
  expect(await harness.withControl((fleet) => fleet.status())).toMatchObject({
    fleet: { state: "running" },
  });
});

test("cancels the job on Ctrl-C before the fleet has answered", async () => {
  const harness = await startRunningFleet(longRunningScript);
  const answers = await withholdResponses(join(harness.folder, ".herdctl/herdctl.sock"));
  const watching = harness.start("trigger", "cli", "-p", "go", "--wait");
  await answers.until(1);
  watching.child.kill("SIGINT");
  answers.release();
  expect(await watching.exited).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/■ cancelled/),
  });
  expect(await harness.withControl((fleet) => fleet.jobs.list({ limit: 9 }))).toMatchObject({
    jobs: [{ status: "cancelled" }],
  });
});

test("prints events in the foreground and exits after the running jobs have ended", async () => {
  const harness = await startCliHarness(
    bashScript("for i in $(seq 15); do sleep 0.1; done; echo over"),
  );
  stopAfterTest(harness);
  const { withControl, triggerJob, waitUntilRunning } = fleetQueries(harness);
  const fleet = harness.start("start");
  await waitUntil(() => withControl((it) => it.status()).catch(() => undefined));
  const id = await triggerJob("cli", "go");
  await waitUntilRunning(1);
  fleet.child.kill("SIGTERM");
  const { code, stdout } = await fleet.exited;
  expect(code).toBe(0);
  const expectedLines = [`○ ${id}  go`, "◐ started  go", "▸ Bash", "■ stopping", "✓ success"];
  expect(expectedLines.filter((text) => !stdout.includes(text))).toEqual([]);
});

test("interrupts running jobs on an immediate stop", async () => {
  const harness = await startRunningFleet(longRunningScript);
  const id = await harness.triggerJob("cli", "go");
  await harness.waitUntilRunning(1);
  expect(await harness.run("stop", "--now")).toMatchObject({ code: 0 });
  expect(await harness.json("job", id)).toMatchObject({ outcome: { code: "interrupted" } });
});

test("stops waiting for running jobs on a second signal", async () => {
  const harness = await startCliHarness(longRunningScript);
  stopAfterTest(harness);
  const { withControl, triggerJob, json, waitUntilRunning } = fleetQueries(harness);
  const fleet = harness.start("start", "--json");
  await waitUntil(() => withControl((it) => it.status()).catch(() => undefined));
  const id = await triggerJob("cli", "go");
  await waitUntilRunning(1);
  fleet.child.kill("SIGTERM");
  await waitUntil(async () => (await withControl((it) => it.status())).fleet.state === "draining");
  fleet.child.kill("SIGTERM");
  const { code, stdout } = await fleet.exited;
  expect(code).toBe(0);
  const types = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).type);
  expect(types).toEqual(expect.arrayContaining(["fleet:started", "job:created", "fleet:stopping"]));
  expect(await json("job", id)).toMatchObject({ outcome: { code: "interrupted" } });
});

test("lists interrupted jobs of an earlier fleet below its banner", async () => {
  const harness = await startCliHarness(longRunningScript);
  stopAfterTest(harness);
  const { withControl, triggerJob, job } = fleetQueries(harness);
  const first = harness.start("start");
  await waitUntil(() => withControl((it) => it.status()).catch(() => undefined));
  const id = await triggerJob("cli", "go");
  await waitUntil(() => harness.rehearsal.ledger.main.length > 0);
  const runner = await waitUntil(async () => (await job(id)).runner);
  first.child.kill("SIGKILL");
  await first.exited;
  process.kill(runner.pid, "SIGKILL");

  const second = harness.start("start");
  let output = "";
  second.child.stdout?.on("data", (text) => {
    output += text;
  });
  await waitUntil(() => output.includes("◔ interrupted until"));
  expect(output).toMatch(/^● test .*\n[\s\S]*socket: [\s\S]*◔ interrupted until/);
  await harness.run("stop", "--now");
});
