import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { runHerdctl } from "../cli/run-herdctl.ts";
import { startFleetProcess, waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
const agentWith = (hooks: string, more = "") =>
  `  - name: one\n    runtime: cli\n${more}    hooks:\n${hooks.replace(/^/gm, "      ")}`;
const lines = (folder: string, name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), "utf8").trim().split("\n") : [];

describe("hooks in a fleet", () => {
  test("runs the hooks of a finished job once, with the agent's metadata", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const hooks = `after_run:
  - { type: shell, command: "cat > told.json; echo x >> after", when: "metadata.price < 20 and cost_usd > 0" }
  - { type: shell, command: "echo x >> dear", when: "metadata.price >= 20" }
on_error: [{ type: shell, command: "echo x >> error" }]`;
    const file = writeFleetFile(harness, agentWith(hooks, "    metadata_file: out.json\n"));
    const folder = dirname(file);
    const fleet = await startFleetInProcess(harness, file);
    const prompt = toolCallPrompt(["Bash", { command: `echo '{"price": 12}' > out.json` }]);
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt });
    const ended = await fleet.jobs.wait(job.id);
    const [hook] = await waitUntil("the hook to succeed", async () => {
      const runs = await fleet.hooks.list({ job: job.id, limit: 10 });
      return runs.length > 0 && runs.every(({ status }) => status === "succeeded") && runs;
    });
    expect(hook).toMatchObject({ event: "after_run", position: 0, attempts: 1 });
    const payload = JSON.parse(readFileSync(join(folder, "told.json"), "utf8"));
    expect(payload.job).toMatchObject({
      id: job.id,
      metadata: { price: 12 },
      cost_usd: ended.cost_usd,
    });
    expect(lines(folder, "after")).toEqual(["x"]);
    expect(existsSync(join(folder, "dear"))).toBe(false);
    expect(existsSync(join(folder, "error"))).toBe(false);
  });

  test("runs the matching hooks of jobs that fail, are cancelled or are skipped", async () => {
    const harness = await startHarness();
    const hooks = `after_run:
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> after" }
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> skipped", outcomes: [gate_closed] }
on_error:
  - { type: shell, command: "echo $HERDCTL_OUTCOME >> error" }
  - { type: webhook, url: "http://127.0.0.1:9/x" }`;
    const more = `    working_directory: /nowhere/at/all
    max_concurrent: 1
    schedules: { s: { type: cron, cron: "0 0 1 1 *", prompt: go, gate: { command: "exit 1" } } }\n`;
    const file = writeFleetFile(harness, agentWith(hooks, more));
    const folder = dirname(file);
    const fleet = await startFleetInProcess(harness, file);
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "go" });
    expect(await fleet.jobs.wait(job.id)).toMatchObject({ outcome: { code: "workspace_missing" } });
    await fleet.agents.pause("one");
    const waiting = await fleet.jobs.trigger({ ...manualTrigger, prompt: "go" });
    await fleet.jobs.cancel(waiting.job.id);
    const skipped = await fleet.jobs.trigger({ ...manualTrigger, schedule: "s" });
    expect(skipped.job).toMatchObject({ status: "skipped", outcome: { code: "gate_closed" } });

    await waitUntil("all hooks to end", async () => {
      const runs = await fleet.hooks.list({ limit: 20 });
      return runs.length === 5 && runs.every(({ finished_at }) => finished_at !== null);
    });
    expect(lines(folder, "after").sort()).toEqual(["cancelled", "workspace_missing"]);
    expect(lines(folder, "error")).toEqual(["workspace_missing"]);
    expect(lines(folder, "skipped")).toEqual(["gate_closed"]);
    const [refused] = await fleet.hooks.list({ status: "failed", limit: 5 });
    expect(refused).toMatchObject({ type: "webhook", attempts: 1 });
    expect(refused?.message).toContain("private address");
    expect(await fleet.jobs.wait(job.id)).toMatchObject({ outcome: { code: "workspace_missing" } });
  });
});

describe("hooks when the fleet is killed", () => {
  test("ends an interrupted hook and runs it again in the next fleet", async () => {
    const harness = await startHarness();
    const hooks = `after_run:
  - type: shell
    command: "echo $HERDCTL_ATTEMPT >> began; while [ ! -e go ]; do sleep 0.05; done; echo x >> ended"
    retry: { backoff: 50ms }`;
    const file = writeFleetFile(harness, agentWith(hooks));
    const folder = dirname(file);
    const first = await startFleetProcess(harness, file);
    const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    await waitUntil("the hook to start", async () => lines(folder, "began").length === 1);
    const [before] = await first.control.hooks.list({ job: job.id, limit: 1 });
    expect(before).toMatchObject({ status: "running", attempts: 1 });
    await first.kill();
    expect(processesWithMarker(`${before?.id}-1`)).not.toEqual([]);

    const second = await startFleetProcess(harness, file);
    await waitUntil("the hook to start again", async () => lines(folder, "began").length === 2);
    expect(processesWithMarker(`HERDCTL_RUN=${before?.id}-1`)).toEqual([]);
    writeFileSync(join(folder, "go"), "");
    const hook = await waitUntil("the hook to succeed", async () => {
      const [run] = await second.control.hooks.list({ job: job.id, limit: 1 });
      return run?.status === "succeeded" && run;
    });
    expect(hook).toMatchObject({ id: before?.id, attempts: 2 });
    expect(lines(folder, "began")).toEqual(["1", "2"]);
    expect(lines(folder, "ended")).toEqual(["x"]);
    await second.stop();
  });

  test("settles an interrupted job in the next fleet and runs its hooks once", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const file = writeFleetFile(
      harness,
      agentWith('after_run: [{ type: shell, command: "echo x >> ran" }]'),
    );
    const folder = dirname(file);
    const first = await startFleetProcess(harness, file);
    const prompt = toolCallPrompt([
      "Bash",
      { command: "touch began; while [ ! -e go ]; do sleep 0.05; done" },
    ]);
    const { job } = await first.control.jobs.trigger({ ...manualTrigger, prompt });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    await first.kill();
    writeFileSync(join(harness.workspace, "go"), "");
    await waitUntil("the runner to end", async () => processesWithMarker(job.id).length === 0);
    expect(lines(folder, "ran")).toEqual([]);

    const second = await startFleetProcess(harness, file);
    await waitUntil("the hook to run", async () => lines(folder, "ran").length > 0);
    await second.stop();
    const third = await startFleetProcess(harness, file);
    expect(await third.control.hooks.list({ job: job.id, limit: 5 })).toHaveLength(1);
    expect(lines(folder, "ran")).toEqual(["x"]);
    await third.stop();
  });
});

describe("hook commands", () => {
  test("shows hooks in `job`, failed ones in `hooks`, and retries one with `hooks retry`", async () => {
    const harness = await startHarness();
    const hooks = `after_run:
  - { type: shell, command: "test -e fixed", retry: { max_attempts: 1 } }
  - { type: shell, command: "true" }`;
    const file = writeFleetFile(harness, agentWith(hooks));
    const at = { cwd: dirname(file), env: harness.env };
    // Without a fleet, the trigger command waits until the hooks have run.
    const alone = await runHerdctl(["trigger", "one", "-p", "hi", "--json"], at);
    const job = JSON.parse(alone.stdout);
    const page = await runHerdctl(["job", job.id], at);
    expect(page.stdout).toMatch(/hooks +✗ failed after_run\[0\] shell: exit 1/);
    expect(page.stdout).toMatch(/✓ succeeded after_run\[1\] shell: exit 0/);

    const failed = await runHerdctl(["hooks", "--failed", "--json"], at);
    const [hook] = JSON.parse(failed.stdout).hooks;
    expect(hook).toMatchObject({ job_id: job.id, status: "failed", position: 0 });
    const fleet = await startFleetProcess(harness, file);
    writeFileSync(join(dirname(file), "fixed"), "");
    const retried = await runHerdctl(["hooks", "retry", hook.id], at);
    expect(retried.code).toBe(0);
    await waitUntil("it to succeed", async () => {
      const runs = await fleet.control.hooks.list({ job: job.id, limit: 5 });
      return runs.every(({ status }) => status === "succeeded");
    });
    const again = await runHerdctl(["hooks", "retry", hook.id], at);
    expect(again.code).toBe(4);
    await fleet.stop();
  });
});
