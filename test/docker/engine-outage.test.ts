import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ContainerManager } from "@herdctl/core/internal";
import { expect, test } from "vitest";
import { removeContainersOf } from "../../packages/core/src/docker/remove-containers.ts";
import { startPrivateEngine } from "../support/docker-engine.ts";
import {
  containersOfJob,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const longToolPrompt = toolCallPrompt(["Bash", { command: "touch began; sleep 600" }]);
const testTimeoutMs = 240_000;

test(
  "reports an engine that dies during a run and stays away",
  async () => {
    const engine = await startPrivateEngine();
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const running = runJobInContainer(harness, { prompt: longToolPrompt });
    await runningContainer(engine, harness);
    await engine.kill();
    const killedAt = Date.now();
    const { job } = await running;
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect(job.outcome).toMatchObject({
      code: "docker_unavailable",
      message: expect.stringContaining("engine stopped"),
    });
    await engine.start();
    const manager = await ContainerManager.connect(harness.env);
    await removeContainersOf(manager, stateDirOf(harness), job.id);
    expect(containersOfJob(engine, job.id)).toEqual([]);
  },
  testTimeoutMs,
);

test(
  "reports an engine restart during a run and continues the job in a new container",
  async () => {
    const engine = await startPrivateEngine();
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const file = writeFleetFile(
      harness,
      "  - { name: one, runtime: cli, docker: { enabled: true } }",
    );
    const fleet = await startFleetInProcess(harness, file);
    const { job } = await fleet.jobs.trigger({
      agent: "one",
      prompt: longToolPrompt,
    });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    const [first = ""] = containersOfJob(engine, job.id);
    await engine.kill();
    await engine.start();
    const attempt = await waitUntil("the attempt is settled", async () => {
      const found = await fleet.jobs.get(job.id);
      return found?.attempts.find(({ finished_at }) => finished_at !== null);
    });
    expect(attempt.outcome_code).toBe("interrupted");
    const ended = await fleet.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2 });
    await waitUntil(
      "no container is left",
      async () => containersOfJob(engine, job.id).length === 0,
    );
    expect(first).toBe(`herdctl-${job.id}-1`);
    expect(readdirSync(harness.workspace)).toEqual(["began"]);
  },
  testTimeoutMs,
);
