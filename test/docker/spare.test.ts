import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetControl, Job } from "@herdctl/core";
import { expect, test } from "vitest";
import { docker, dockerStage, giveAll } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();
const agents = "  - { name: one, runtime: cli, docker: { enabled: true, warm: true } }";

test("a spare container is taken by the next job, replaced, and gone when the fleet stops", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const file = fleetFile(on, agents);
  const fleet = await fleetProgram(on, file);
  const spare = await theSpare(on);
  const job = await run(fleet.control, "touch made");
  expect(job.outcome).toMatchObject({ code: "success" });
  expect(job.container_id).toBe(spare);
  expect(existsSync(join(on.workspace, "made"))).toBe(true);
  const next = await theSpare(on);
  expect(next).not.toBe(spare);
  await fleet.stop();
  expect(sparesOf(on)).toEqual([]);
  expect(readdirSync(on.workspace)).toEqual(["made"]);
  expect(readdirSync(join(dirname(file), ".herdctl/spare-containers"))).toEqual([]);
});

test("a spare that does not fit any more is not used", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const fleet = await fleetProgram(on, fleetFile(on, agents));
  const spare = await theSpare(on);
  execFileSync("git", ["init", "-q", on.workspace]);
  giveAll(on.workspace);
  const job = await run(fleet.control, "git commit -q --allow-empty -m one");
  expect(job.outcome).toMatchObject({ code: "success" });
  expect(job.container_id).not.toBe(spare);
  expect(job.git).toMatchObject({ commits: 1, head_before: null });
  await fleet.stop();
  expect(sparesOf(on)).toEqual([]);
});

test("a spare that a killed fleet left is found and removed by the next", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const file = fleetFile(on, agents);
  const first = await fleetProgram(on, file);
  const spare = await theSpare(on);
  await first.kill();
  const second = await fleetProgram(on, file);
  await until("it is replaced", async () => {
    const found = sparesOf(on);
    return found.length === 1 && found[0] !== spare;
  });
  await second.stop();
  expect(sparesOf(on)).toEqual([]);
});

async function run(control: FleetControl, command: string): Promise<Job> {
  const prompt = obey(["Bash", { command }]);
  const { job } = await control.trigger({ trigger: "manual", agent: "one", prompt });
  return await control.wait(job.id);
}

async function theSpare(on: Stage): Promise<string> {
  return await until("a spare", async () => sparesOf(on)[0]);
}

function sparesOf(on: Stage): string[] {
  const filter = ["--filter", "name=herdctl-spare-", "--filter", `volume=${on.workspace}`];
  return docker(engine, "ps", "--no-trunc", ...filter, "--format", "{{.ID}}")
    .split("\n")
    .filter(Boolean);
}
