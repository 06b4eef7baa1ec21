import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { mountSmallStateDir } from "../support/small-state-disk.ts";

const manualTrigger = { agent: "one" };

test("refuses new work on a full disk with a clear message, and continues without loss once there is space", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli }");
  const state = mountSmallStateDir(file);
  const fleet = await startFleetInProcess(harness, file);
  const before = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job;
  expect((await fleet.jobs.wait(before.id)).status).toBe("completed");

  const slow = toolCallPrompt([
    "Bash",
    { command: "echo x > began; while [ ! -e go ]; do sleep 0.05; done" },
  ]);
  const running = (await fleet.jobs.trigger({ ...manualTrigger, prompt: slow })).job;
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  state.fill();
  await expect(
    fleet.jobs.trigger({ ...manualTrigger, prompt: "x".repeat(200_000) }),
  ).rejects.toThrow(/disk|space|full/i);
  expect((await fleet.status()).fleet).toMatchObject({ state: "refusing" });

  writeFileSync(join(harness.workspace, "go"), "");
  await new Promise((done) => setTimeout(done, 1_500));
  state.free();
  const ended = await fleet.jobs.wait(running.id);
  expect(["completed", "failed"]).toContain(ended.status);
  if (ended.status === "failed") expect(ended.outcome?.code).toBe("disk_full");
  const after = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello again" })).job;
  expect((await fleet.jobs.wait(after.id)).status).toBe("completed");
  expect((await fleet.status()).fleet).toMatchObject({ state: "running", problem: null });
}, 90_000);
