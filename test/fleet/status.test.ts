import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const oneAgent = "  - { name: one, runtime: cli }";
const waiting = "echo x >> began; while [ ! -e go ]; do sleep 0.05; done";
const work = obey(["Bash", { command: waiting }]);

test("status says what an agent does with the gist of it, and so does the next fleet that finds it at work", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, oneAgent);
  const first = await fleetProgram(on, file);
  await first.control.trigger({ ...manual, prompt: work });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  const doing = async ({ control }: typeof first) =>
    (await control.status()).agents[0]?.running[0]?.doing;
  const seen = () => until("it to show", async () => (await doing(first))?.startsWith("Bash"));
  await seen();
  expect(await doing(first)).toBe(`Bash ${waiting}`);
  await first.kill();

  const second = await fleetProgram(on, file);
  await until("it to show again", async () => (await doing(second)) === `Bash ${waiting}`);
  writeFileSync(join(on.workspace, "go"), "");
  await until("its end", async () => (await second.control.status()).fleet.running === 0);
  await second.stop();
});

test("the last job of an agent is the one that ended last, whatever runs or waits now", async () => {
  const on = await stage({ mode: "obedient" });
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const last = async () => (await fleet.status()).agents[0]?.last_job;
  expect(await last()).toBeNull();
  const done = (await fleet.trigger({ ...manual, prompt: "hello" })).job;
  await fleet.wait(done.id);
  await fleet.trigger({ ...manual, prompt: work });
  await fleet.trigger({ ...manual, prompt: "hello again" });
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  expect(await last()).toMatchObject({ id: done.id, outcome: "success" });
});
