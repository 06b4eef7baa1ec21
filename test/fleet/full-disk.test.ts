import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import { smallState } from "../support/small-state.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };

test("on a full disk new work is refused with a clear message; freed, it goes on and nothing is lost", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli }");
  const state = smallState(file);
  const fleet = await startFleet(on, file);
  const before = (await fleet.trigger({ ...manual, prompt: "hello" })).job;
  expect((await fleet.wait(before.id)).status).toBe("completed");

  const slow = obey([
    "Bash",
    { command: "echo x > began; while [ ! -e go ]; do sleep 0.05; done" },
  ]);
  const running = (await fleet.trigger({ ...manual, prompt: slow })).job;
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  state.fill();
  await expect(fleet.trigger({ ...manual, prompt: "x".repeat(200_000) })).rejects.toThrow(
    /disk|space|full/i,
  );
  expect((await fleet.status()).fleet).toMatchObject({ state: "refusing" });

  writeFileSync(join(on.workspace, "go"), "");
  await new Promise((done) => setTimeout(done, 1_500));
  state.free();
  const ended = await fleet.wait(running.id);
  expect(["completed", "failed"]).toContain(ended.status);
  if (ended.status === "failed") expect(ended.outcome?.code).toBe("disk_full");
  const after = (await fleet.trigger({ ...manual, prompt: "hello again" })).job;
  expect((await fleet.wait(after.id)).status).toBe("completed");
  expect((await fleet.status()).fleet).toMatchObject({ state: "running", problem: null });
}, 90_000);
