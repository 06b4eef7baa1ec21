import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { containersOf, docker, dockerStage } from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { fleetFile } from "../support/fleet-process.ts";
import { type FleetProgram, fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import type { Stage } from "../support/stage.ts";

const engine = await testEngine();
const manual = { trigger: "manual" as const, agent: "one" };
const agents = "  - { name: one, runtime: cli, docker: { enabled: true } }";
const foreign = ["herdctl-foreign-one", "herdctl-foreign-two"];

/** A tool that waits for a file to appear, and says so before and after. */
const patientTool = obey([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended" },
]);

beforeAll(() => {
  const labels = ["herdctl.fleet=somebody-else", "com.example=1"];
  for (const [index, name] of foreign.entries()) {
    const label = ["--label", labels[index] ?? "", "--label", "herdctl.job=job-x"];
    docker(
      engine,
      "run",
      "-d",
      "--name",
      name,
      "--network=none",
      ...label,
      engine.base,
      "sleep",
      "900",
    );
  }
});

afterAll(() => {
  expect(docker(engine, "ps", "--format", "{{.Names}}").split("\n")).toEqual(
    expect.arrayContaining(foreign),
  );
  docker(engine, "rm", "-f", ...foreign);
});

describe("the runner is killed", () => {
  const moments: Record<string, (on: Stage, jobId: string) => Promise<unknown>> = {
    "before there is a container": async () => undefined,
    "as soon as there is one": (_, jobId) => hasContainer(jobId),
    "in the middle of a tool": (on) => hasBegun(on),
  };

  test.each(Object.keys(moments))(
    "%s: no container is left and the job goes on",
    async (moment) => {
      const on = await dockerStage(engine, { mode: "obedient" });
      const fleet = await fleetProgram(on, fleetFile(on, agents));
      const { job } = await fleet.control.trigger({ ...manual, prompt: patientTool });
      const runner = await until(
        "a runner",
        async () => (await jobNow(fleet.control, job.id)).runner,
      );
      await moments[moment]?.(on, job.id);
      process.kill(runner?.pid ?? 0, "SIGKILL");
      const killedAt = Date.now();
      await until("the attempt is settled", async () => {
        const found = await fleet.control.job(job.id);
        return found?.attempts[0]?.finished_at;
      });
      expect(Date.now() - killedAt).toBeLessThan(10_000);
      writeFileSync(join(on.workspace, "go"), "");
      const ended = await fleet.control.wait(job.id);
      expect(ended).toMatchObject({ status: "completed", attempts: 2, crashes: 1 });
      await settledWithout(fleet, on, job.id);
    },
  );
});

test("the fleet is killed: the container works on, and the next fleet sees it end", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const file = fleetFile(on, agents);
  const first = await fleetProgram(on, file);
  const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
  await hasBegun(on);
  await first.kill();
  const second = await fleetProgram(on, file);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(containersOf(engine, job.id)).toHaveLength(1);
  writeFileSync(join(on.workspace, "go"), "");
  const ended = await second.control.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 1 });
  expect(readFileSync(join(on.workspace, "ended"), "utf8")).toBe("x\n");
  await settledWithout(second, on, job.id);
});

test("fleet and runner are killed: the next fleet ends the container before it goes on", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const file = fleetFile(on, agents);
  const first = await fleetProgram(on, file);
  const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
  await hasBegun(on);
  const { runner } = await jobNow(first.control, job.id);
  await first.kill();
  process.kill(runner?.pid ?? 0, "SIGKILL");
  const [name = ""] = containersOf(engine, job.id);
  expect(name).not.toBe("");
  const startedAt = Date.now();
  const second = await fleetProgram(on, file);
  await until(
    "the old container is gone",
    async () => !containersOf(engine, job.id).includes(name),
  );
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  writeFileSync(join(on.workspace, "go"), "");
  const ended = await second.control.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 2, crashes: 1 });
  expect(ended.container_id).toMatch(/^[0-9a-f]{64}$/);
  await settledWithout(second, on, job.id);
});

test("a container whose job nobody knows is removed at the start", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const file = fleetFile(on, agents);
  const first = await fleetProgram(on, file);
  const { job } = await first.control.trigger({ ...manual, prompt: patientTool });
  await hasBegun(on);
  const [name = ""] = containersOf(engine, job.id);
  const fleetId = docker(
    engine,
    "inspect",
    "--format",
    '{{index .Config.Labels "herdctl.fleet"}}',
    name,
  );
  writeFileSync(join(on.workspace, "go"), "");
  await first.control.wait(job.id);
  await first.kill();
  const label = ["--label", `herdctl.fleet=${fleetId}`, "--label", "herdctl.job=job-gone"];
  docker(engine, "run", "-d", "--network=none", ...label, engine.base, "sleep", "900");
  const second = await fleetProgram(on, file);
  await until("it is gone", async () => containersOf(engine, "job-gone").length === 0);
  await second.stop();
});

async function hasContainer(jobId: string): Promise<void> {
  await until("a container", async () => containersOf(engine, jobId).length > 0);
}

async function hasBegun(on: Stage): Promise<void> {
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
}

/** Nothing of the job is left: no container, no process, no placeholder in the workspace. */
async function settledWithout(fleet: FleetProgram, on: Stage, jobId: string): Promise<void> {
  await until("nothing is left", async () => containersOf(engine, jobId).length === 0, 10_000);
  await fleet.stop();
  expect(processesWith(jobId)).toEqual([]);
  expect(readdirSync(on.workspace).filter((name) => name.startsWith("."))).toEqual([]);
}
