import { expect, test } from "vitest";
import { sweepRun } from "../../packages/core/src/runner/sweep/sweep-run.ts";
import { fleetStage, logged, until } from "./fleet-stage.ts";

const script = {
  rules: [
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

test("the log of a finished job reads as it was seen, by job, by agent or the latest of all", async () => {
  const on = await fleetStage(script);
  const live = await on.run("trigger", "sdk", "-p", "slowly", "--wait");
  expect(live.code).toBe(0);
  const latest = await on.run("logs");
  expect(latest).toMatchObject({ code: 0, stderr: "", stdout: live.stdout });
  const other = await on.trigger("cli", "-p", "quick");
  expect((await on.run("logs", "sdk")).stdout).toBe(live.stdout);
  expect((await on.run("logs", other.id)).stdout).toContain("Quick words.");
  expect((await on.run("logs", "-f", other.id)).stdout).toContain("Quick words.");
  const unknown = await on.run("logs", "nobody");
  expect(unknown).toMatchObject({ code: 2, stdout: "" });
  expect(unknown.stderr).toMatch(/no job is called nobody/);
});

test("with --json the log is the messages themselves, one a line", async () => {
  const on = await fleetStage(script);
  const job = await on.trigger("cli", "-p", "quick");
  const { stdout } = await on.run("logs", job.id, "--json");
  const lines = stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line))).toEqual(logged(job));
});

test("the log of a running job shows what is there, and with -f goes on to its end", async () => {
  const on = await fleetStage(script);
  const running = on.start("trigger", "cli", "-p", "slowly");
  await until(async () => (await on.run("logs", "cli")).stdout.includes("sleep 2; echo slept"));
  const soFar = await on.run("logs", "cli");
  expect(soFar.stdout).toContain("◐ running");
  expect(soFar.stdout).not.toContain("Last words.");
  const [followed, raw] = await Promise.all([
    on.run("logs", "cli", "-f"),
    on.run("logs", "cli", "-f", "--json"),
  ]);
  expect(followed).toMatchObject({ code: 0, stderr: "" });
  expect(followed.stdout).toMatch(/First words\.[\s\S]*slept[\s\S]*Last words\.[\s\S]*✓ success/);
  const last = JSON.parse(raw.stdout.trimEnd().split("\n").at(-1) ?? "");
  expect(last).toMatchObject({ type: "result", result: "Last words." });
  expect((await running.ended).code).toBe(0);
});

test("following ends when whoever ran the job was killed", async () => {
  const on = await fleetStage(script);
  const running = on.start("trigger", "cli", "-p", "slowly");
  await until(async () => (await on.run("logs", "cli")).stdout.includes("sleep 2"));
  const following = on.run("logs", "cli", "-f");
  running.child.kill("SIGKILL");
  expect((await following).code).toBe(0);
  const { jobs } = JSON.parse((await on.run("jobs", "--json")).stdout);
  expect(jobs).toMatchObject([{ status: "running" }]);
  await sweepRun(`${jobs[0].id}.1`);
});
