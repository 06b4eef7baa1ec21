import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { killRunProcesses } from "../../packages/core/src/process-tree/kill-processes.ts";
import { readLoggedMessages, startCliHarness, waitUntil } from "./cli-harness.ts";

const script = {
  rules: [
    {
      match: { prompt: "until told" },
      replies: [
        {
          text: "First words.",
          tools: [
            {
              name: "Bash",
              input: { command: "until [ -e go ]; do sleep 0.1; done; echo slept" },
            },
          ],
        },
        "Last words.",
      ],
    },
    {
      match: { prompt: "slowly" },
      replies: [
        {
          text: "First words.",
          tools: [{ name: "Bash", input: { command: "sleep 2; echo slept" } }],
        },
        "Last words.",
      ],
    },
  ],
  default: "Quick words.",
};

test("prints the log of a finished job by job, by agent or for the latest job", async () => {
  const harness = await startCliHarness(script);
  const live = await harness.run("trigger", "sdk", "-p", "slowly", "--wait");
  expect(live.code).toBe(0);
  const latest = await harness.run("logs");
  expect(latest).toMatchObject({ code: 0, stderr: "", stdout: live.stdout });
  const other = await harness.trigger("cli", "-p", "quick");
  expect((await harness.run("logs", "sdk")).stdout).toBe(live.stdout);
  expect((await harness.run("logs", other.id)).stdout).toContain("Quick words.");
  expect((await harness.run("logs", "-f", other.id)).stdout).toContain("Quick words.");
  const unknown = await harness.run("logs", "nobody");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/there is no job nobody/);
});

test("prints the messages themselves with --json, one per line", async () => {
  const harness = await startCliHarness(script);
  const job = await harness.trigger("cli", "-p", "quick");
  const { stdout } = await harness.run("logs", job.id, "--json");
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(readLoggedMessages(job));
});

test("prints the log of a running job, and follows it to its end with -f", async () => {
  const harness = await startCliHarness(script);
  const running = harness.start("trigger", "cli", "-p", "until told");
  await waitUntil(async () => (await harness.run("logs", "cli")).stdout.includes("echo slept"));
  const soFar = await harness.run("logs", "cli");
  expect(soFar.stdout).toContain("◐ running");
  expect(soFar.stdout).not.toContain("Last words.");
  const following = Promise.all([
    harness.run("logs", "cli", "-f"),
    harness.run("logs", "cli", "-f", "--json"),
  ]);
  await delay(1_000);
  writeFileSync(join(harness.workspace, "go"), "");
  const [followed, raw] = await following;
  expect(followed).toMatchObject({ code: 0, stderr: "" });
  expect(followed.stdout).toMatch(/First words\.[\s\S]*slept[\s\S]*Last words\.[\s\S]*✓ success/);
  const last = JSON.parse(raw.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ type: "result", result: "Last words." });
  expect((await running.exited).code).toBe(0);
});

test("ends following when the process that ran the job was killed", async () => {
  const harness = await startCliHarness(script);
  const running = harness.start("trigger", "cli", "-p", "slowly");
  await waitUntil(async () => (await harness.run("logs", "cli")).stdout.includes("sleep 2"));
  const following = harness.run("logs", "cli", "-f");
  running.child.kill("SIGKILL");
  expect((await following).code).toBe(0);
  const { jobs } = JSON.parse((await harness.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "running" }]);
  await killRunProcesses(`${jobs[0].id}.1`);
});
