import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fleetFile } from "../support/fleet-process.ts";
import { fleetProgram, jobNow, until } from "../support/fleet-program.ts";
import { obey } from "../support/runtime.ts";
import { type Stage, stage } from "../support/stage.ts";
import { sliceOf } from "../support/width.ts";

const agent = (runtime: string) => `  - name: one
    runtime: ${runtime}
    tools: [artifact, progress]
    schedules:
      daily: { type: cron, cron: "0 9 1 1 *", prompt: go, output_schema: { type: object, required: [ok] } }`;

const waiting = "echo x >> began; while [ ! -e go ]; do sleep 0.05; done";
const prompt = [
  obey(["mcp__herd__report", { report: { ok: true } }]),
  obey(["Bash", { command: "echo one > a.txt" }]),
  obey(
    ["mcp__herd__artifact", { path: "a.txt" }],
    ["mcp__herd__progress", { text: "tidying", fraction: 0.75 }],
  ),
  obey(["Bash", { command: waiting }]),
].join("\n\n");
const request = { trigger: "manual" as const, agent: "one", schedule: "daily", prompt };

function atWork(on: Stage): Promise<boolean> {
  return until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
}

function runnerOf(file: string, id: string): number {
  const claim = join(file, "../.herdctl/jobs", id, "runner-1.json");
  return JSON.parse(readFileSync(claim, "utf8")).runner.pid;
}

describe.each(sliceOf(["cli", "sdk"], 1))("runtime: %s", (runtime) => {
  test("what an agent handed in outlives its runner, and the next attempt owes nothing more", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agent(runtime));
    const fleet = await fleetProgram(on, file);
    const { job } = await fleet.control.trigger(request);
    await atWork(on);
    writeFileSync(join(on.workspace, "go"), "");
    process.kill(runnerOf(file, job.id), "SIGKILL");
    const ended = await until(
      "the end of the job",
      async () => {
        const now = await jobNow(fleet.control, job.id);
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

  test("a fleet that finds a job at work knows what the agent said of its progress", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agent(runtime));
    const first = await fleetProgram(on, file);
    const { job } = await first.control.trigger(request);
    await atWork(on);
    const doing = ({ control }: typeof first) =>
      until("its progress to show", async () => {
        const [running] = (await control.status()).agents[0]?.running ?? [];
        return running?.doing.startsWith("75 % tidying · Bash") && running.doing;
      });
    const told = await doing(first);
    await first.kill();
    const second = await fleetProgram(on, file);
    expect(await doing(second)).toBe(told);
    writeFileSync(join(on.workspace, "go"), "");
    const ended = await until(
      "the end of the job",
      async () => {
        const now = await jobNow(second.control, job.id);
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
