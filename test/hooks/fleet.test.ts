import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { herdctl } from "../cli/herdctl.ts";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const agentWith = (hooks: string, more = "") =>
  `  - name: one\n    runtime: cli\n${more}    hooks:\n${hooks.replace(/^/gm, "      ")}`;
const lines = (folder: string, name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").trim().split("\n") : [];

describe("in a fleet", () => {
  test("a finished job runs its hooks once, with the metadata that the agent wrote", async () => {
    const on = await stage({ mode: "obedient" });
    const hooks = `after_run:
  - { type: shell, command: "cat > told.json; echo x >> after", when: "metadata.price < 20 and cost_usd > 0" }
  - { type: shell, command: "echo x >> dear", when: "metadata.price >= 20" }
on_error: [{ type: shell, command: "echo x >> error" }]`;
    const file = fleetFile(on, agentWith(hooks, "    metadata_file: out.json\n"));
    const folder = dirname(file);
    const fleet = await startFleet(on, file);
    const prompt = obey(["Bash", { command: `echo '{"price": 12}' > out.json` }]);
    const { job } = await fleet.trigger({ ...manual, prompt });
    const ended = await fleet.wait(job.id);
    const [hook] = await until("the hook to succeed", async () => {
      const runs = await fleet.hooks({ jobId: job.id, limit: 10 });
      return runs.length > 0 && runs.every(({ status }) => status === "succeeded") && runs;
    });
    expect(hook).toMatchObject({ event: "after_run", position: 0, attempts: 1 });
    const told = JSON.parse(readFileSync(join(folder, "told.json"), "utf8"));
    expect(told.job).toMatchObject({
      id: job.id,
      metadata: { price: 12 },
      cost_usd: ended.cost_usd,
    });
    expect(lines(folder, "after")).toEqual(["x"]);
    expect(existsSync(join(folder, "dear"))).toBe(false);
    expect(existsSync(join(folder, "error"))).toBe(false);
  });

  test("jobs that fail, are cancelled or are skipped call for what is meant for them", async () => {
    const on = await stage();
    const hooks = `after_run:
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> after" }
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> skipped", on: [gate_closed] }
on_error:
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> error" }
  - { type: webhook, url: "http://127.0.0.1:9/x" }`;
    const more = `    working_directory: /nowhere/at/all
    max_concurrent: 1
    schedules: { s: { type: cron, cron: "0 0 1 1 *", prompt: go, gate: { command: "exit 1" } } }\n`;
    const file = fleetFile(on, agentWith(hooks, more));
    const folder = dirname(file);
    const fleet = await startFleet(on, file);
    const { job } = await fleet.trigger({ ...manual, prompt: "go" });
    expect(await fleet.wait(job.id)).toMatchObject({ outcome: { code: "workspace_missing" } });
    await fleet.pauseAgent("one");
    const waiting = await fleet.trigger({ ...manual, prompt: "go" });
    await fleet.cancel(waiting.job.id);
    const skipped = await fleet.trigger({ ...manual, schedule: "s" });
    expect(skipped.job).toMatchObject({ status: "skipped", outcome: { code: "gate_closed" } });

    await until("all hooks to be over", async () => {
      const runs = await fleet.hooks({ limit: 20 });
      return runs.length === 5 && runs.every(({ finished_at }) => finished_at !== null);
    });
    expect(lines(folder, "after").sort()).toEqual(["cancelled", "workspace_missing"]);
    expect(lines(folder, "error")).toEqual(["workspace_missing"]);
    expect(lines(folder, "skipped")).toEqual(["gate_closed"]);
    const [refused] = await fleet.hooks({ status: "failed", limit: 5 });
    expect(refused).toMatchObject({ type: "webhook", attempts: 1 });
    expect(refused?.message).toContain("private address");
    expect(await fleet.wait(job.id)).toMatchObject({ outcome: { code: "workspace_missing" } });
  });
});

describe("the fleet is killed", () => {
  test("while a hook runs: what is left of it is ended, and the next fleet runs it again", async () => {
    const on = await stage();
    const hooks = `after_run:
  - type: shell
    command: "echo $HERDCTL_ATTEMPT >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended"
    retry: { backoff: 50ms }`;
    const file = fleetFile(on, agentWith(hooks));
    const folder = dirname(file);
    const first = await fleetProgram(on, file);
    const { job } = await first.control.trigger({ ...manual, prompt: "hello" });
    await until("the hook to begin", async () => lines(folder, "began").length === 1);
    const [before] = await first.control.hooks({ jobId: job.id, limit: 1 });
    expect(before).toMatchObject({ status: "running", attempts: 1 });
    await first.kill();
    expect(processesWith(`${before?.id}-1`)).not.toEqual([]);

    const second = await fleetProgram(on, file);
    await until("the hook to begin again", async () => lines(folder, "began").length === 2);
    expect(processesWith(`HERDCTL_RUN=${before?.id}-1`)).toEqual([]);
    writeFileSync(join(folder, "go"), "");
    const hook = await until("the hook to succeed", async () => {
      const [run] = await second.control.hooks({ jobId: job.id, limit: 1 });
      return run?.status === "succeeded" && run;
    });
    expect(hook).toMatchObject({ id: before?.id, attempts: 2 });
    expect(lines(folder, "began")).toEqual(["1", "2"]);
    expect(lines(folder, "ended")).toEqual(["x"]);
    await second.stop();
  });

  test("while the job runs: the next fleet settles the job and runs its hooks, once", async () => {
    const on = await stage({ mode: "obedient" });
    const file = fleetFile(on, agentWith('after_run: [{ type: shell, command: "echo x >> ran" }]'));
    const folder = dirname(file);
    const first = await fleetProgram(on, file);
    const prompt = obey([
      "Bash",
      { command: "touch began; while [ ! -e go ]; do sleep 0.05; done" },
    ]);
    const { job } = await first.control.trigger({ ...manual, prompt });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    await first.kill();
    writeFileSync(join(on.workspace, "go"), "");
    await until("the runner to end", async () => processesWith(job.id).length === 0);
    expect(lines(folder, "ran")).toEqual([]);

    const second = await fleetProgram(on, file);
    await until("the hook to run", async () => lines(folder, "ran").length > 0);
    await second.stop();
    const third = await fleetProgram(on, file);
    expect(await third.control.hooks({ jobId: job.id, limit: 5 })).toHaveLength(1);
    expect(lines(folder, "ran")).toEqual(["x"]);
    await third.stop();
  });
});

describe("commands", () => {
  test("`job` shows its hooks, `hooks` those that failed, `hooks retry` tries one again", async () => {
    const on = await stage();
    const hooks = `after_run:
  - { type: shell, command: "test -e fixed", retry: { max_attempts: 1 } }
  - { type: shell, command: "true" }`;
    const file = fleetFile(on, agentWith(hooks));
    const at = { cwd: dirname(file), env: on.env };
    // Where no fleet runs, the command itself stays until the hooks of its job are through.
    const alone = await herdctl(["trigger", "one", "-p", "hi", "--json"], at);
    const job = JSON.parse(alone.stdout);
    const page = await herdctl(["job", job.id], at);
    expect(page.stdout).toMatch(/hooks +✗ failed after_run\[0\] shell: exit 1/);
    expect(page.stdout).toMatch(/✓ succeeded after_run\[1\] shell: exit 0/);

    const failed = await herdctl(["hooks", "--failed", "--json"], at);
    const [hook] = JSON.parse(failed.stdout).hooks;
    expect(hook).toMatchObject({ job_id: job.id, status: "failed", position: 0 });
    const fleet = await fleetProgram(on, file);
    writeFileSync(join(dirname(file), "fixed"), "");
    const retried = await herdctl(["hooks", "retry", hook.id], at);
    expect(retried.code).toBe(0);
    await until("it to succeed", async () => {
      const runs = await fleet.control.hooks({ jobId: job.id, limit: 5 });
      return runs.every(({ status }) => status === "succeeded");
    });
    const again = await herdctl(["hooks", "retry", hook.id], at);
    expect(again.code).toBe(4);
    await fleet.stop();
  });
});
