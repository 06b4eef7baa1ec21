import { describe, expect, test } from "vitest";
import { sharedEngine } from "../support/docker-engine.ts";
import {
  containersOfJob,
  docker,
  runJobInContainer,
  runningContainer,
  startDockerHarness,
} from "../support/docker-harness.ts";
import { waitUntil } from "../support/fleet-child-process.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const engine = await sharedEngine();

const memoryHogCommand = `python3 -c 'x=" " * 900000000' || perl -e '$x = "x" x 900000000; print length $x'`;

test("adds a warning when a tool is killed out of memory in a run that finished", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const { job } = await runJobInContainer(harness, {
    yaml: "docker: { enabled: true, memory: 600m }",
    prompt: toolCallPrompt(["Bash", { command: memoryHogCommand }]),
  });
  expect(job.outcome?.code).toBe("success");
  expect(job.warnings.join()).toContain("memory ran out");
});

test("reports a run that was killed out of memory", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  // The kernel kills the process with the largest memory first, here claude itself.
  const { job } = await runJobInContainer(harness, {
    yaml: "docker: { enabled: true, memory: 600m }",
    prompt: toolCallPrompt([
      "Bash",
      {
        command: `echo 1000 > /proc/$PPID/oom_score_adj; for i in 1 2 3; do (${memoryHogCommand}); done`,
      },
    ]),
  });
  expect(job.outcome).toMatchObject({ code: "oom_killed" });
  expect(job.outcome?.hint).toContain("docker.memory");
  expect(containersOfJob(engine, job.id)).toEqual([]);
});

test("keeps a fork bomb within its limit and ends it with its container", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const running = runJobInContainer(harness, {
    yaml: "timeouts: { total: 15s }\ndocker: { enabled: true, pids_limit: 200 }",
    prompt: toolCallPrompt(["Bash", { command: "bomb() { bomb | bomb & }; bomb; sleep 600" }]),
  });
  const name = await runningContainer(engine, harness);
  const most = await waitUntil("the limit is reached", async () => {
    const now = Number(docker(engine, "stats", "--no-stream", "--format", "{{.PIDs}}", name));
    return now > 150 && now;
  });
  expect(most).toBeLessThanOrEqual(200);
  const { job } = await running;
  expect(job.outcome?.code).not.toBe("success");
  expect(containersOfJob(engine, job.id)).toEqual([]);
  expect(processesWithMarker(job.id)).toEqual([]);
});

describe("container ended from outside", () => {
  test.each([
    ["rm -f", "interrupted", /removed during the run/],
    ["kill", "runtime_crashed", /SIGKILL, not by herdctl/],
  ])("settles the job within ten seconds after docker %s as %s", async (command, code, message) => {
    const harness = await startDockerHarness(engine, { mode: "obedient" });
    const running = runJobInContainer(harness, {
      prompt: toolCallPrompt(["Bash", { command: "sleep 600" }]),
    });
    const name = await runningContainer(engine, harness);
    const began = Date.now();
    docker(engine, ...command.split(" "), name);
    const { job } = await running;
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(job.outcome).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(containersOfJob(engine, job.id)).toEqual([]);
  });
});

test("removes the container of a run that is cancelled or times out", async () => {
  const harness = await startDockerHarness(engine, { mode: "obedient" });
  const stopping = new AbortController();
  const running = runJobInContainer(harness, {
    prompt: toolCallPrompt(["Bash", { command: "sleep 600" }]),
    signal: stopping.signal,
  });
  await runningContainer(engine, harness);
  stopping.abort();
  const { job } = await running;
  expect(job.outcome?.code).toBe("cancelled");
  expect(containersOfJob(engine, job.id)).toEqual([]);
  const late = await runJobInContainer(harness, {
    yaml: "timeouts: { total: 5s }",
    prompt: toolCallPrompt(["Bash", { command: "trap '' TERM INT; sleep 600" }]),
  });
  expect(late.job.outcome?.code).toBe("timeout");
  expect(containersOfJob(engine, late.job.id)).toEqual([]);
});
