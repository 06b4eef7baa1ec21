import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FleetManager, type Job } from "@herdctl/core";
import { createApp, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { type FleetStage, fleetStage, until } from "./fleet-stage.ts";
import { questions, stopWhenOver } from "./fleet-stage-running.ts";

/** The stage, with an agent that gives up on the API at once and tries again after this pause. */
async function retryingStage(fault: object, backoff: string): Promise<FleetStage> {
  const on = await fleetStage({ rules: [{ reply: "At last.", fault }] });
  const file = join(on.folder, "herdctl.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("defaults: {", `defaults: { retry: { backoff: ${backoff} },`));
  appendFileSync(join(on.folder, ".env"), "CLAUDE_CODE_MAX_RETRIES=1\n");
  return on;
}

/** The same fleet in this process; it takes the lock, and nothing else unless told to. */
async function fleetHere({ folder, env }: FleetStage): Promise<FleetManager> {
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env });
  onTestFinished(() => fleet.stop({ drainMs: 0 }));
  await fleet.initialize();
  return fleet;
}

const tillReset = (seconds: number) => ({
  status: 429,
  times: 1,
  headers: {
    "retry-after": "120",
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(Math.ceil(Date.now() / 1000) + seconds),
  },
});

test("what fails for now is tried again in the same session, and it says so", async () => {
  const on = await retryingStage({ status: 529, times: 2 }, "200ms");
  const { code, stdout } = await on.run("trigger", "cli", "-p", "hello", "--wait");
  expect(code).toBe(0);
  expect(stdout).toMatch(/◔ overloaded until [\s\S]*At last\.[\s\S]*✓ success/);
  const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "completed", attempts: 2 }]);
});

test("nobody waits for hours in a terminal: the job is left to the next fleet, which goes on with it", async () => {
  const on = await retryingStage(tillReset(3600), "200ms");
  // Whoever triggers the same again before its time is told the same.
  for (const _ of ["first", "again"]) {
    const shown = await on.run("trigger", "cli", "-p", "hello", "--key", "k", "--wait");
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/◔ usage_limit[\s\S]*herdctl start, which goes on with it from/);
  }
  const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "waiting", outcome: { code: "usage_limit" } }]);

  stopWhenOver(on);
  await on.run("start", "--detach");
  const { ask, ended } = questions(on);
  expect(await ask((fleet) => fleet.status())).toMatchObject({ fleet: { waiting: 1 } });
  await on.run("stop");
  await makeDue(on, jobs[0]);
  await on.run("start", "--detach");
  expect(await ended(jobs[0].id)).toMatchObject({
    status: "completed",
    attempts: 2,
    session_id: jobs[0].session_id,
  });
});

/** As if the hours had passed. */
async function makeDue(on: FleetStage, { id }: Job): Promise<void> {
  const { StateManager } = await import("@herdctl/core");
  const state = await new StateManager(join(on.folder, ".herdctl")).open();
  await state.jobs.update(id, { due_at: new Date().toISOString() });
  await state.close();
}

test.each([
  ["SIGINT", "cancelled"],
  ["SIGTERM", "waiting"],
] as const)("%s between two attempts leaves the job %s", async (signal, status) => {
  const on = await retryingStage({ status: 529, times: 2 }, "1m");
  const { child, ended } = on.start("trigger", "cli", "-p", "hello", "--json");
  let said = "";
  child.stderr?.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes("overloaded"));
  child.kill(signal);
  const { code, stdout } = await ended;
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({ status, attempts: 1 });
});

test("it starts its own job only; a key that was used before goes on with its job", async () => {
  const on = await fleetStage();
  const before = await fleetHere(on);
  const request = { trigger: "manual" as const, agent: "cli", prompt: "hello" };
  const other = (await before.trigger(request)).job;
  const wanted = (await before.trigger({ ...request, key: "k" })).job;
  await before.stop();
  const { stdout, stderr } = await on.run("trigger", "cli", "--key", "k", "-p", "hello", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ id: wanted.id, status: "completed" });
  expect(stderr).toMatch(/used before: its job goes on/);
  expect(JSON.parse((await on.run("job", other.id, "--json")).stdout).status).toBe("pending");
});

test("a pause holds back the fleet, and not whoever triggers by hand where none runs", async () => {
  const on = await fleetStage();
  const before = await fleetHere(on);
  await before.pauseAgent("cli");
  await before.stop();
  expect(await on.trigger("cli", "-p", "hello")).toMatchObject({ status: "completed" });
});

test("a trigger that waits for the lock goes to the fleet that comes up meanwhile", async () => {
  const on = await fleetStage();
  const fleet = await fleetHere(on);
  const { child, ended } = on.start("trigger", "cli", "-p", "hello", "--wait", "--json");
  let said = "";
  child.stderr?.on("data", (text) => {
    said += text;
  });
  await until(() => said.includes("waiting for it"));
  const server = await serveOnSocket(createApp(fleet), join(on.folder, ".herdctl/herdctl.sock"));
  onTestFinished(() => server.stop());
  await fleet.start();
  const { code, stdout } = await ended;
  expect(code).toBe(0);
  const job = JSON.parse(stdout);
  expect((await fleet.job(job.id))?.job).toEqual(job);
  expect(existsSync(join(on.folder, ".herdctl/herdctl.sock"))).toBe(true);
});
