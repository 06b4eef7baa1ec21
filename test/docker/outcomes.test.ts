import { describe, expect, test } from "vitest";
import {
  containersOf,
  docker,
  dockerStage,
  runContained,
  runningContainer,
} from "../support/container.ts";
import { testEngine } from "../support/engine.ts";
import { until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";

const engine = await testEngine();

const hog = `python3 -c 'x=" " * 900000000' || perl -e '$x = "x" x 900000000; print length $x'`;

test("a tool that is killed for want of memory is a warning on a run that finished", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const { job } = await runContained(on, {
    yaml: "docker: { enabled: true, memory: 600m }",
    prompt: obey(["Bash", { command: hog }]),
  });
  expect(job.outcome?.code).toBe("success");
  expect(job.warnings.join()).toContain("want of memory");
});

test("a run that is killed for want of memory says so", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  // claude itself is the first to be killed when it is the one whose memory counts for most.
  const { job } = await runContained(on, {
    yaml: "docker: { enabled: true, memory: 600m }",
    prompt: obey([
      "Bash",
      { command: `echo 1000 > /proc/$PPID/oom_score_adj; for i in 1 2 3; do (${hog}); done` },
    ]),
  });
  expect(job.outcome).toMatchObject({ code: "oom_killed" });
  expect(job.outcome?.hint).toContain("docker.memory");
  expect(containersOf(engine, job.id)).toEqual([]);
});

test("a fork bomb stays within its limit, and goes with its container", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const running = runContained(on, {
    yaml: "timeouts: { wall: 15s }\ndocker: { enabled: true, pids_limit: 200 }",
    prompt: obey(["Bash", { command: "bomb() { bomb | bomb & }; bomb; sleep 600" }]),
  });
  const name = await runningContainer(engine, on);
  const most = await until("the limit is reached", async () => {
    const now = Number(docker(engine, "stats", "--no-stream", "--format", "{{.PIDs}}", name));
    return now > 150 && now;
  });
  expect(most).toBeLessThanOrEqual(200);
  const { job } = await running;
  expect(job.outcome?.code).not.toBe("success");
  expect(containersOf(engine, job.id)).toEqual([]);
  expect(processesWith(job.id)).toEqual([]);
});

describe("from outside", () => {
  test.each([
    ["rm -f", "interrupted", /removed under the run/],
    ["kill", "runtime_crashed", /SIGKILL, and not by herdctl/],
  ])("docker %s settles the job within ten seconds as %s", async (command, code, message) => {
    const on = await dockerStage(engine, { mode: "obedient" });
    const running = runContained(on, { prompt: obey(["Bash", { command: "sleep 600" }]) });
    const name = await runningContainer(engine, on);
    const began = Date.now();
    docker(engine, ...command.split(" "), name);
    const { job } = await running;
    expect(Date.now() - began).toBeLessThan(10_000);
    expect(job.outcome).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(containersOf(engine, job.id)).toEqual([]);
  });
});

test("a run that is cancelled or takes too long is ended, and its container is gone", async () => {
  const on = await dockerStage(engine, { mode: "obedient" });
  const stopping = new AbortController();
  const running = runContained(on, {
    prompt: obey(["Bash", { command: "sleep 600" }]),
    signal: stopping.signal,
  });
  await runningContainer(engine, on);
  stopping.abort();
  const { job } = await running;
  expect(job.outcome?.code).toBe("cancelled");
  expect(containersOf(engine, job.id)).toEqual([]);
  const late = await runContained(on, {
    yaml: "timeouts: { wall: 5s }",
    prompt: obey(["Bash", { command: "trap '' TERM INT; sleep 600" }]),
  });
  expect(late.job.outcome?.code).toBe("timeout");
  expect(containersOf(engine, late.job.id)).toEqual([]);
});
