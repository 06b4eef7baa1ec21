import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  chownToContainerUser,
  containersOfJob,
  docker,
  startDockerHarness,
} from "../support/docker-harness.ts";
import {
  type FleetProcess,
  readJob,
  startFleetProcess,
  waitUntil,
} from "../support/fleet-child-process.ts";
import type { TestHarness } from "../support/harness.ts";
import { createHostRepository } from "../support/host-repository.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { listRunFolders } from "../support/private-git-harness.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();
const manualTrigger = { agent: "one" };
const agents = "  - { name: one, runtime: cli, docker: { enabled: true } }";
const foreignContainers = ["herdctl-foreign-one", "herdctl-foreign-two"];

/** A tool that waits for a file to appear and writes a line before and after. */
const waitingToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo x >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended" },
]);

/** The same, after a commit. */
const committingToolPrompt = toolCallPrompt([
  "Bash",
  {
    command:
      "echo 2 >> file; git commit -qam two; echo x >> began; while [ ! -e go ]; do sleep 0.05; done",
  },
]);

beforeAll(() => {
  const labels = ["herdctl.fleet=somebody-else", "com.example=1"];
  for (const [index, name] of foreignContainers.entries()) {
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
    expect.arrayContaining(foreignContainers),
  );
  docker(engine, "rm", "-f", ...foreignContainers);
});

describe("runner killed", () => {
  const moments: Record<string, (harness: TestHarness, jobId: string) => Promise<unknown>> = {
    "before the container exists": async () => undefined,
    "as soon as the container exists": (_, jobId) => waitForContainer(jobId),
    "in the middle of a tool": (harness) => waitUntilBegun(harness),
  };

  test.each(Object.keys(moments))(
    "removes the container and continues the job when killed %s",
    async (moment) => {
      const harness = await startDockerHarness(engine, { mode: "obedient" });
      const fleet = await startFleetProcess(harness, writeFleetFile(harness, agents));
      const { job } = await fleet.control.jobs.trigger({
        ...manualTrigger,
        prompt: waitingToolPrompt,
      });
      const runner = await waitUntil(
        "a runner",
        async () => (await readJob(fleet.control, job.id)).runner,
      );
      await moments[moment]?.(harness, job.id);
      process.kill(runner?.pid ?? 0, "SIGKILL");
      const killedAt = Date.now();
      await waitUntil("the attempt is settled", async () => {
        const found = await fleet.control.jobs.get(job.id);
        return found?.attempts[0]?.finished_at;
      });
      expect(Date.now() - killedAt).toBeLessThan(10_000);
      writeFileSync(join(harness.workspace, "go"), "");
      const ended = await fleet.control.jobs.wait(job.id);
      expect(ended).toMatchObject({ status: "completed", attempts: 2, crashes: 1 });
      await expectSettledWithoutContainer(fleet, harness, job.id);
    },
  );
});

test("keeps the container running when the fleet is killed, and the next fleet records its end", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const file = writeFleetFile(harness, agents);
  const first = await startFleetProcess(harness, file);
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt: waitingToolPrompt });
  await waitUntilBegun(harness);
  await first.kill();
  const second = await startFleetProcess(harness, file);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(containersOfJob(engine, job.id)).toHaveLength(1);
  writeFileSync(join(harness.workspace, "go"), "");
  const ended = await second.control.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 1 });
  expect(readFileSync(join(harness.workspace, "ended"), "utf8")).toBe("x\n");
  await expectSettledWithoutContainer(second, harness, job.id);
});

test("removes the container in the next fleet when fleet and runner are killed, then continues the job", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const host = createHostRepository(harness.env, harness.workspace);
  chownToContainerUser(harness.workspace);
  const file = writeFleetFile(harness, agents);
  const first = await startFleetProcess(harness, file);
  const { job } = await first.control.jobs.trigger({
    ...manualTrigger,
    prompt: committingToolPrompt,
  });
  await waitUntilBegun(harness);
  const { runner } = await readJob(first.control, job.id);
  await first.kill();
  process.kill(runner?.pid ?? 0, "SIGKILL");
  const [name = ""] = containersOfJob(engine, job.id);
  expect(name).not.toBe("");
  const startedAt = Date.now();
  const second = await startFleetProcess(harness, file);
  await waitUntil(
    "the old container is gone",
    async () => !containersOfJob(engine, job.id).includes(name),
  );
  expect(Date.now() - startedAt).toBeLessThan(10_000);
  writeFileSync(join(harness.workspace, "go"), "");
  const ended = await second.control.jobs.wait(job.id);
  expect(ended).toMatchObject({ status: "completed", attempts: 2, crashes: 1 });
  expect(ended.container_id).toMatch(/^[0-9a-f]{64}$/);
  const ref = `refs/herdctl/${job.id}`;
  expect(ended.git).toMatchObject({ ref, commits: 1 });
  expect(host.git("log", "--format=%s", ref)).toBe("two\none");
  expect(listRunFolders(join(dirname(file), ".herdctl"))).toEqual([]);
  await expectSettledWithoutContainer(second, harness, job.id);
});

test("removes a container of an unknown job at the start", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const file = writeFleetFile(harness, agents);
  const first = await startFleetProcess(harness, file);
  const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt: waitingToolPrompt });
  await waitUntilBegun(harness);
  const [name = ""] = containersOfJob(engine, job.id);
  const fleetId = docker(
    engine,
    "inspect",
    "--format",
    '{{index .Config.Labels "herdctl.fleet"}}',
    name,
  );
  writeFileSync(join(harness.workspace, "go"), "");
  await first.control.jobs.wait(job.id);
  await first.kill();
  const label = ["--label", `herdctl.fleet=${fleetId}`, "--label", "herdctl.job=job-gone"];
  docker(engine, "run", "-d", "--network=none", ...label, engine.base, "sleep", "900");
  const second = await startFleetProcess(harness, file);
  await waitUntil("it to be gone", async () => containersOfJob(engine, "job-gone").length === 0);
  await second.stop();
});

async function waitForContainer(jobId: string): Promise<void> {
  await waitUntil("a container", async () => containersOfJob(engine, jobId).length > 0);
}

async function waitUntilBegun(harness: TestHarness): Promise<void> {
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
}

/** Expects that no container, process or workspace placeholder of the job remains. */
async function expectSettledWithoutContainer(
  fleet: FleetProcess,
  harness: TestHarness,
  jobId: string,
): Promise<void> {
  await waitUntil(
    "nothing is left",
    async () => containersOfJob(engine, jobId).length === 0,
    10_000,
  );
  await fleet.stop();
  expect(processesWithMarker(jobId)).toEqual([]);
  const hidden = readdirSync(harness.workspace).filter((name) => name.startsWith("."));
  expect(hidden.filter((name) => name !== ".git")).toEqual([]);
}
