import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ContainerManager } from "@herdctl/core";
import { expect, test } from "vitest";
import { removeContainersOf } from "../../packages/core/src/runner/container/sweep-containers.ts";
import { containersOf, dockerStage, runContained, runningContainer } from "../support/container.ts";
import { ownEngine } from "../support/engine.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { stateDirOf } from "../support/job.ts";
import { obey } from "../support/runtime.ts";

const longTool = obey(["Bash", { command: "touch began; sleep 600" }]);
const minutes = 240_000;

test(
  "an engine that dies under a run and stays away is told as such",
  async () => {
    const engine = await ownEngine();
    const on = await dockerStage(engine, { mode: "obedient" });
    const running = runContained(on, { prompt: longTool });
    await runningContainer(engine, on);
    await engine.kill();
    const killedAt = Date.now();
    const { job } = await running;
    expect(Date.now() - killedAt).toBeLessThan(20_000);
    expect(job.outcome).toMatchObject({
      code: "docker_unavailable",
      message: expect.stringContaining("went away"),
    });
    await engine.start();
    const manager = await ContainerManager.connect(on.env);
    await removeContainersOf(manager, stateDirOf(on), job.id);
    expect(containersOf(engine, job.id)).toEqual([]);
  },
  minutes,
);

test(
  "an engine that is restarted under a run: the truth is told, and the job goes on in a new container",
  async () => {
    const engine = await ownEngine();
    const on = await dockerStage(engine, { mode: "obedient" });
    const file = fleetFile(on, "  - { name: one, runtime: cli, docker: { enabled: true } }");
    const fleet = await startFleet(on, file);
    const { job } = await fleet.trigger({ trigger: "manual", agent: "one", prompt: longTool });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    const [first = ""] = containersOf(engine, job.id);
    await engine.kill();
    await engine.start();
    const attempt = await until("the attempt is settled", async () => {
      const found = await fleet.job(job.id);
      return found?.attempts.find(({ finished_at }) => finished_at !== null);
    });
    expect(attempt.outcome_code).toBe("interrupted");
    const ended = await fleet.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2 });
    await until("no container is left", async () => containersOf(engine, job.id).length === 0);
    expect(first).toBe(`herdctl-${job.id}-1`);
    expect(readdirSync(on.workspace)).toEqual(["began"]);
  },
  minutes,
);
