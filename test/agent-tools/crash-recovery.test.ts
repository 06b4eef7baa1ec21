import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readJob, startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness, type TestHarness } from "../support/harness.ts";
import { writeFleetFile } from "../support/in-process-fleet.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";
import { testSubset } from "../support/test-subset.ts";

const agent = (runtime: string) => `  - name: one
    runtime: ${runtime}
    tools: [artifact, progress]
    schedules:
      daily: { type: cron, cron: "0 9 1 1 *", prompt: go, output_schema: { type: object, required: [ok] } }`;

const waiting = "echo x >> began; while [ ! -e go ]; do sleep 0.05; done";
const prompt = [
  toolCallPrompt(["mcp__herd__report", { report: { ok: true } }]),
  toolCallPrompt(["Bash", { command: "echo one > a.txt" }]),
  toolCallPrompt(
    ["mcp__herd__artifact", { path: "a.txt" }],
    ["mcp__herd__progress", { text: "tidying", fraction: 0.75 }],
  ),
  toolCallPrompt(["Bash", { command: waiting }]),
].join("\n\n");
const request = { agent: "one", schedule: "daily", prompt };

function waitUntilToolRuns(harness: TestHarness): Promise<boolean> {
  return waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
}

function readRunnerPid(file: string, id: string): number {
  const claim = join(file, "../.herdctl/jobs", id, "runner-1.json");
  return JSON.parse(readFileSync(claim, "utf8")).runner.pid;
}

describe.each(testSubset(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("keeps a report across a runner crash, so that the next attempt owes none", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(harness, agent(runtime));
    const fleet = await startFleetProcess(harness, file);
    const { job } = await fleet.control.jobs.trigger(request);
    await waitUntilToolRuns(harness);
    writeFileSync(join(harness.workspace, "go"), "");
    process.kill(readRunnerPid(file, job.id), "SIGKILL");
    const ended = await waitUntil(
      "the end of the job",
      async () => {
        const now = await readJob(fleet.control, job.id);
        return now.finished_at !== null && now;
      },
      40_000,
    );
    expect(ended).toMatchObject({
      status: "completed",
      crashes: 1,
      report: { ok: true },
      artifacts: [{ name: "a.txt", bytes: 4 }],
    });
    await fleet.stop();
  });

  test("restores the progress of a running job after a fleet restart", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(harness, agent(runtime));
    const first = await startFleetProcess(harness, file);
    const { job } = await first.control.jobs.trigger(request);
    await waitUntilToolRuns(harness);
    const doing = ({ control }: typeof first) =>
      waitUntil("its progress to show", async () => {
        const [running] = (await control.status()).agents[0]?.running ?? [];
        return running?.activity.startsWith("75 % tidying · Bash") && running.activity;
      });
    const activity = await doing(first);
    await first.kill();
    const second = await startFleetProcess(harness, file);
    expect(await doing(second)).toBe(activity);
    writeFileSync(join(harness.workspace, "go"), "");
    const ended = await waitUntil(
      "the end of the job",
      async () => {
        const now = await readJob(second.control, job.id);
        return now.finished_at !== null && now;
      },
      40_000,
    );
    expect(ended).toMatchObject({
      outcome: { code: "success" },
      attempts: 1,
      report: { ok: true },
    });
    await second.stop();
  });
});
