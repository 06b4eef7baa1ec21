import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
const oneAgentYaml = "  - { name: one, runtime: cli }";
const waitCommand = "echo x >> began; while [ ! -e go ]; do sleep 0.05; done";
const workPrompt = toolCallPrompt(["Bash", { command: waitCommand }]);

test("shows a summary of an agent's current action, also in the next fleet that finds it running", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, oneAgentYaml);
  const first = await startFleetProcess(harness, file);
  await first.control.jobs.trigger({ ...manualTrigger, prompt: workPrompt });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  const doing = async ({ control }: typeof first) =>
    (await control.status()).agents[0]?.running[0]?.activity;
  const seen = () => waitUntil("it to show", async () => (await doing(first))?.startsWith("Bash"));
  await seen();
  expect(await doing(first)).toBe(`Bash ${waitCommand}`);
  await first.kill();

  const second = await startFleetProcess(harness, file);
  await waitUntil("it to show again", async () => (await doing(second)) === `Bash ${waitCommand}`);
  writeFileSync(join(harness.workspace, "go"), "");
  await waitUntil("its end", async () => (await second.control.status()).fleet.running === 0);
  await second.stop();
});

test("shows the job that ended last as an agent's last job, whatever runs or waits", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
  const last = async () => (await fleet.status()).agents[0]?.last_job;
  expect(await last()).toBeNull();
  const done = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job;
  await fleet.jobs.wait(done.id);
  await fleet.jobs.trigger({ ...manualTrigger, prompt: workPrompt });
  await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello again" });
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  expect(await last()).toMatchObject({ id: done.id, outcome: "success" });
});
