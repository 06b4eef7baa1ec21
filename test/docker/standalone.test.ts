import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { StateManager } from "@herdctl/core";
import { expect, onTestFinished, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  containersOfJob,
  docker,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { readJobMessages, stateDirOf } from "../support/run-job.ts";
import { toolCallPrompt, toolResultTexts } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();
const program = join(import.meta.dirname, "../standalone/programs/run-in-docker.mjs");

test("removes the container of a killed program in the next run, and no other container", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const stateDir = stateDirOf(harness);
  const jobId = `job-test-${randomUUID().slice(0, 8)}`;
  const prompt = toolCallPrompt(["Bash", { command: "tail -f /dev/null" }]);
  const foreign = docker(engine, "create", "--label", `herdctl.job=${jobId}`, engine.image);
  onTestFinished(() => void docker(engine, "rm", "-f", foreign));
  const child = spawn(process.execPath, [program, stateDir, harness.workspace, jobId, prompt], {
    env: harness.env,
    stdio: "ignore",
  });
  await runningContainer(engine, harness);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  expect(containersOfJob(engine, jobId)).toHaveLength(2);

  await runJobInContainer(harness, { prompt: "hello" });
  expect(containersOfJob(engine, jobId)).toHaveLength(1);
  const state = await new StateManager(stateDir).open();
  const job = await state.jobs.get(jobId);
  await state.close();
  expect(job).toMatchObject({ status: "failed", outcome: { code: "interrupted" }, crashes: 1 });
});

test("keeps the files of a named volume between runs", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const volume = `herdctl-test-${randomUUID().slice(0, 8)}`;
  onTestFinished(() => void docker(engine, "volume", "rm", "-f", volume));
  const run = async (mode: string, command: string) => {
    const { job } = await runJobInContainer(harness, {
      yaml: `runtime: cli\ndocker: { enabled: true, volumes: ["${volume}:/cache:${mode}"] }`,
      prompt: toolCallPrompt(["Bash", { command }]),
    });
    return toolResultTexts(await readJobMessages(job)).join();
  };
  await run("rw", "echo kept > /cache/file");
  expect(await run("ro", "cat /cache/file; touch /cache/other")).toMatch(/kept.*Read-only file/s);
});

test("refuses a named volume that is a folder of the host", async () => {
  const harness = await startDockerHarness(engine);
  const volume = `herdctl-test-${randomUUID().slice(0, 8)}`;
  const options = ["-o", "type=none", "-o", "o=bind", "-o", "device=/etc"];
  docker(engine, "volume", "create", ...options, volume);
  onTestFinished(() => void docker(engine, "volume", "rm", "-f", volume));
  const yaml = `docker: { enabled: true, volumes: ["${volume}:/cache"] }`;
  const { job } = await runJobInContainer(harness, { yaml });
  expect(job.outcome?.message).toContain("is the folder /etc of the host");
});
