import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FleetManager } from "@herdctl/core/internal";
import type { Job } from "@herdctl/protocol";
import { createApp, serveOnSocket } from "@herdctl/server";
import { expect, onTestFinished, test } from "vitest";
import { type CliHarness, startCliHarness, waitUntil } from "./cli-harness.ts";
import { fleetQueries, stopAfterTest } from "./running-fleet.ts";

/** A harness with an agent that fails quickly on API errors and retries after `backoff`. */
async function startRetryingHarness(fault: object, backoff: string): Promise<CliHarness> {
  const harness = await startCliHarness({ rules: [{ reply: "At last.", fault }] });
  const file = join(harness.folder, "herdctl.yaml");
  const text = readFileSync(file, "utf8");
  writeFileSync(file, text.replace("defaults: {", `defaults: { retry: { backoff: ${backoff} },`));
  appendFileSync(join(harness.folder, ".env"), "CLAUDE_CODE_MAX_RETRIES=1\n");
  return harness;
}

/** The same fleet in this process; it holds the lock and runs nothing by itself. */
async function startFleetHere({ folder, env }: CliHarness): Promise<FleetManager> {
  const fleet = new FleetManager({ file: join(folder, "herdctl.yaml"), env });
  onTestFinished(() => fleet.shutdown({ drainMs: 0 }));
  await fleet.initialize();
  return fleet;
}

const rateLimitUntilReset = (seconds: number) => ({
  status: 429,
  times: 1,
  headers: {
    "retry-after": "120",
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(Math.ceil(Date.now() / 1000) + seconds),
  },
});

test("retries a temporary failure in the same session and prints that", async () => {
  const harness = await startRetryingHarness({ status: 529, times: 2 }, "200ms");
  const { code, stdout } = await harness.run("trigger", "cli", "-p", "hello", "--wait");
  expect(code).toBe(0);
  expect(stdout).toMatch(/◔ overloaded until [\s\S]*At last\.[\s\S]*✓ success/);
  const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "completed", attempts: 2 }]);
});

test("leaves a job with a retry hours away to the next fleet", async () => {
  const harness = await startRetryingHarness(rateLimitUntilReset(3600), "200ms");
  // The same trigger with the same key gives the same answer before the retry is due.
  for (const _ of ["first", "again"]) {
    const shown = await harness.run("trigger", "cli", "-p", "hello", "--key", "k", "--wait");
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/◔ usage_limit[\s\S]*herdctl start {2}# continues the job at/);
  }
  const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "waiting", outcome: { code: "usage_limit" } }]);

  stopAfterTest(harness);
  await harness.run("start", "--detach");
  const { withControl, waitForJob } = fleetQueries(harness);
  expect(await withControl((fleet) => fleet.status())).toMatchObject({ fleet: { waiting: 1 } });
  await harness.run("stop");
  await makeRetryDue(harness, jobs[0]);
  await harness.run("start", "--detach");
  expect(await waitForJob(jobs[0].id)).toMatchObject({
    status: "completed",
    attempts: 2,
    session_id: jobs[0].session_id,
  });
});

/** Makes the retry due now instead of in hours. */
async function makeRetryDue(harness: CliHarness, { id }: Job): Promise<void> {
  const { StateManager } = await import("@herdctl/core/internal");
  const state = await new StateManager(join(harness.folder, ".herdctl")).open();
  await state.jobs.update(id, { due_at: new Date().toISOString() });
  await state.close();
}

test.each([
  ["SIGINT", "cancelled"],
  ["SIGTERM", "waiting"],
] as const)(
  "leaves the job after %s between two attempts in the state %s",
  async (signal, status) => {
    const harness = await startRetryingHarness({ status: 529, times: 2 }, "1m");
    const { child, exited } = harness.start("trigger", "cli", "-p", "hello", "--json");
    let output = "";
    child.stderr?.on("data", (text) => {
      output += text;
    });
    await waitUntil(() => output.includes("overloaded"));
    child.kill(signal);
    const { code, stdout } = await exited;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status, attempts: 1 });
  },
);

test("starts only its own job, and continues the job of a key that was used before", async () => {
  const harness = await startCliHarness();
  const before = await startFleetHere(harness);
  const request = { agent: "cli", prompt: "hello" };
  const other = (await before.jobs.trigger(request)).job;
  const wanted = (await before.jobs.trigger({ ...request, key: "k" })).job;
  await before.shutdown();
  const { stdout, stderr } = await harness.run(
    "trigger",
    "cli",
    "--key",
    "k",
    "-p",
    "hello",
    "--json",
  );
  expect(JSON.parse(stdout)).toMatchObject({ id: wanted.id, status: "completed" });
  expect(stderr).toMatch(/used before. Continuing its job/);
  expect(JSON.parse((await harness.run("job", other.id, "--json")).stdout).status).toBe("pending");
});

test("ignores a pause of the fleet for a manual trigger without a fleet", async () => {
  const harness = await startCliHarness();
  const before = await startFleetHere(harness);
  await before.agents.pause("cli");
  await before.shutdown();
  expect(await harness.trigger("cli", "-p", "hello")).toMatchObject({ status: "completed" });
});

test("passes a trigger that waits for the lock to a fleet that starts meanwhile", async () => {
  const harness = await startCliHarness();
  const fleet = await startFleetHere(harness);
  const { child, exited } = harness.start("trigger", "cli", "-p", "hello", "--wait", "--json");
  let output = "";
  child.stderr?.on("data", (text) => {
    output += text;
  });
  await waitUntil(() => output.includes("Waiting for it"));
  const server = await serveOnSocket(
    createApp(fleet),
    join(harness.folder, ".herdctl/herdctl.sock"),
  );
  onTestFinished(() => server.stop());
  await fleet.start();
  const { code, stdout } = await exited;
  expect(code).toBe(0);
  const job = JSON.parse(stdout);
  expect((await fleet.jobs.get(job.id))?.job).toEqual(job);
  expect(existsSync(join(harness.folder, ".herdctl/herdctl.sock"))).toBe(true);
});
