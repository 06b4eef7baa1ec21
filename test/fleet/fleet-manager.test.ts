import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetEvent, Job } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";
import { processesWithMarker } from "../support/processes-with-marker.ts";
import { toolCallPrompt } from "../support/runtimes-under-test.ts";

const manualTrigger = { agent: "one" };
const greetingScript = { script: { rules: [{ reply: "Good morning." }] } };
const oneAgentYaml = "  - { name: one, runtime: cli }";
const endlessToolPrompt = toolCallPrompt([
  "Bash",
  { command: "echo x >> began; tail -f /dev/null" },
]);

test.each(["sdk", "cli"])("records one job per trigger (%s)", async (runtime) => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, `  - { name: one, runtime: ${runtime} }`),
  );
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  const ended = await fleet.jobs.wait(job.id);
  expect(ended).toMatchObject({
    status: "completed",
    outcome: { code: "success" },
    summary: "Good morning.",
    attempts: 1,
  });
  expect(ended.cost_usd).toBeGreaterThan(0);
  expect(harness.rehearsal.ledger.main).toHaveLength(1);
  expect(processesWithMarker(job.id)).toEqual([]);
});

test("emits the events of a job in order", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
  const seen: string[] = [];
  const types: FleetEvent["type"][] = ["job:created", "job:started", "job:output", "job:completed"];
  for (const type of types) fleet.on(type, () => seen.push(type));
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  await fleet.jobs.wait(job.id);
  expect(seen[0]).toBe("job:created");
  expect(seen[1]).toBe("job:started");
  expect(seen.filter((type) => type === "job:output").length).toBeGreaterThanOrEqual(3);
  expect(seen.at(-1)).toBe("job:completed");
});

test("creates one job for a hundred triggers with one key", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
  const all = await Promise.all(
    Array.from({ length: 100 }, () =>
      fleet.jobs.trigger({ ...manualTrigger, prompt: "hello", key: "the-key" }),
    ),
  );
  expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
  expect(all.filter(({ created }) => created)).toHaveLength(1);
  await fleet.jobs.wait(all[0]?.job.id ?? "");
  expect(harness.rehearsal.ledger.main).toHaveLength(1);
});

describe("cancel", () => {
  test("ends a pending job immediately and asks a running one to stop", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
    const first = (await fleet.jobs.trigger({ ...manualTrigger, prompt: endlessToolPrompt })).job;
    const second = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job;
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    expect(await fleet.jobs.cancel(second.id)).toMatchObject({ status: "cancelled", attempts: 0 });
    await fleet.jobs.cancel(first.id);
    expect(await fleet.jobs.wait(first.id)).toMatchObject({
      status: "cancelled",
      outcome: { code: "cancelled" },
    });
    expect(processesWithMarker(first.id)).toEqual([]);
  });

  test("kills a job by force without asking it", async () => {
    const harness = await startHarness({ mode: "obedient" });
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: endlessToolPrompt });
    await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
    const began = Date.now();
    await fleet.jobs.cancel(job.id, { force: true });
    expect(await fleet.jobs.wait(job.id)).toMatchObject({ status: "cancelled" });
    expect(Date.now() - began).toBeLessThan(5_000);
  });
});

describe("after a failure", () => {
  test("retries an overloaded API in the same session", async () => {
    const harness = await startHarness({
      script: { rules: [{ reply: "At last.", fault: { status: 529, times: 2 } }] },
    });
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    const ended = await fleet.jobs.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, summary: "At last." });
  }, 60_000);

  test("waits for the reset of a usage limit and resumes the same session", async () => {
    const reset = Math.ceil(Date.now() / 1000) + 4;
    const headers = {
      "retry-after": "120",
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(reset),
    };
    const harness = await startHarness({
      script: { rules: [{ reply: "Refreshed.", fault: { status: 429, headers, times: 1 } }] },
    });
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, oneAgentYaml));
    const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    const waiting = await waitUntil("the job to wait", async () => {
      const found = (await fleet.jobs.get(job.id))?.job;
      return found?.status === "waiting" && found;
    });
    expect(waiting.outcome).toMatchObject({
      code: "usage_limit",
      resets_at: new Date(reset * 1000).toISOString(),
    });
    const ended = await fleet.jobs.wait(job.id);
    expect(Date.now()).toBeGreaterThanOrEqual(reset * 1000);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      session_id: waiting.session_id,
    });
  });

  test("fails one job on a refused credential, reports it once and keeps the others waiting", async () => {
    const jobCount = 8;
    const harness = await startHarness({
      script: { rules: [{ reply: "Welcome.", fault: { status: 401, times: 1 } }] },
    });
    const fleet = await startFleetInProcess(
      harness,
      writeFleetFile(
        harness,
        `${oneAgentYaml}\n  - { name: two, runtime: cli }`,
        "max_concurrent: 1",
      ),
    );
    const paused: string[] = [];
    fleet.on("agent:paused", ({ reason }) => paused.push(reason));
    const jobs = await Promise.all(
      Array.from({ length: jobCount }, async (_, index) => {
        return (
          await fleet.jobs.trigger({
            ...manualTrigger,
            agent: index % 2 ? "one" : "two",
            prompt: "hello",
          })
        ).job;
      }),
    );
    const hasFailed = async () =>
      (await fleet.jobs.list({ limit: jobCount })).jobs.some(({ status }) => status === "failed");
    await waitUntil("the first to fail", hasFailed, 60_000);
    await new Promise((done) => setTimeout(done, 500));
    const { fleet: counts, agents } = await fleet.status();
    expect(counts.pending).toBe(jobCount - 1);
    expect(paused).toHaveLength(1);
    expect(agents.every((agent) => agent.paused !== null)).toBe(true);
    await fleet.agents.resume("one");
    const ended = await Promise.all(jobs.map((job) => fleet.jobs.wait(job.id)));
    expect(ended.filter((job) => job.status === "completed")).toHaveLength(jobCount - 1);
  }, 300_000);
});

test("keeps the jobs of a paused agent waiting, but not those of others", async () => {
  const harness = await startHarness(greetingScript);
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, `${oneAgentYaml}\n  - { name: two, runtime: cli }`),
  );
  await fleet.agents.pause("one");
  const held = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job;
  const free = (await fleet.jobs.trigger({ ...manualTrigger, agent: "two", prompt: "hello" })).job;
  expect((await fleet.jobs.wait(free.id)).status).toBe("completed");
  expect((await fleet.jobs.get(held.id))?.job.status).toBe("pending");
  await fleet.agents.resume("one");
  expect((await fleet.jobs.wait(held.id)).status).toBe("completed");
});

test("accepts the answer to an approval through another client", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const fleet = await startFleetInProcess(
    harness,
    writeFleetFile(harness, "  - { name: one, runtime: cli, permission_mode: default }"),
  );
  const { job } = await fleet.jobs.trigger({
    ...manualTrigger,
    prompt: toolCallPrompt(["Bash", { command: "touch asked" }]),
  });
  const [approval] = await waitUntil("the question", async () => {
    const open = await fleet.approvals.list();
    return open.length > 0 && open;
  });
  expect(approval).toMatchObject({ job_id: job.id, tool: "Bash" });
  expect((await fleet.jobs.get(job.id))?.job.status).toBe("waiting");
  await fleet.approvals.answer(approval?.id ?? "", "allow", { note: "a colleague" });
  await expect(
    fleet.approvals.answer(approval?.id ?? "", "deny", { note: "a late one" }),
  ).rejects.toThrow(/closed/);
  expect((await fleet.jobs.wait(job.id)).outcome?.code).toBe("success");
  expect(existsSync(join(harness.workspace, "asked"))).toBe(true);
});

test("keeps the old configuration and reports the problem when a reload fails", async () => {
  const harness = await startHarness(greetingScript);
  const file = writeFleetFile(harness, oneAgentYaml);
  const fleet = await startFleetInProcess(harness, file);
  const good = readFileSync(file, "utf8");
  writeFileSync(file, good.replace("name: one", "nmae: one"));
  await expect(fleet.reload()).rejects.toThrow(/nmae/);
  expect((await fleet.status()).fleet.problem).toContain("nmae");
  const { job } = await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" });
  expect((await fleet.jobs.wait(job.id)).status).toBe("completed");
  writeFileSync(file, good.replace("name: one", "name: uno"));
  await fleet.reload();
  expect((await fleet.status()).agents.map((agent) => agent.name)).toEqual(["uno"]);
  expect((await fleet.status()).fleet.problem).toBeNull();
});

test("refuses a second fleet on the same state and names the first", async () => {
  const harness = await startHarness(greetingScript);
  const file = writeFleetFile(harness, oneAgentYaml);
  await startFleetInProcess(harness, file);
  await expect(startFleetInProcess(harness, file)).rejects.toThrow(new RegExp(String(process.pid)));
});

test("drains on stop: waits for jobs that can finish and interrupts the others so that they can be resumed", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, "  - { name: one, runtime: cli, max_concurrent: 2 }");
  const fleet = await startFleetInProcess(harness, file);
  const quick = (
    await fleet.jobs.trigger({
      ...manualTrigger,
      prompt: toolCallPrompt(["Bash", { command: "sleep 1; echo done" }]),
    })
  ).job;
  const stuck = (await fleet.jobs.trigger({ ...manualTrigger, prompt: endlessToolPrompt })).job;
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  await fleet.shutdown({ drainMs: 3_000 });
  const again = await startFleetInProcess(harness, file);
  expect((await again.jobs.get(quick.id))?.job).toMatchObject({ status: "completed" });
  const interrupted = (await again.jobs.get(stuck.id))?.job;
  expect(interrupted).toMatchObject({ status: "failed", outcome: { code: "interrupted" } });
  const resumed = await again.jobs.trigger({ ...manualTrigger, prompt: "go on", resume: stuck.id });
  expect((await again.jobs.wait(resumed.job.id)).session_id).toBe(interrupted?.session_id);
});

test("refuses a trigger during the stop and runs pending jobs in the next fleet", async () => {
  const harness = await startHarness({ mode: "obedient" });
  const file = writeFleetFile(harness, oneAgentYaml);
  const fleet = await startFleetInProcess(harness, file);
  const running = (await fleet.jobs.trigger({ ...manualTrigger, prompt: endlessToolPrompt })).job;
  const pending = (await fleet.jobs.trigger({ ...manualTrigger, prompt: "hello" })).job;
  await waitUntil("the tool to start", async () => existsSync(join(harness.workspace, "began")));
  const stopped = fleet.shutdown({ drainMs: 200 });
  await expect(fleet.jobs.trigger({ ...manualTrigger, prompt: "late" })).rejects.toThrow(
    /stopping/,
  );
  await stopped;
  const next = await startFleetInProcess(harness, file);
  expect((await next.jobs.wait(pending.id)).status).toBe("completed");
  expect((await next.jobs.get(running.id))?.job.outcome?.code).toBe("interrupted");
});

test("removes old jobs with their folders and keeps the newest of each agent", async () => {
  const harness = await startHarness(greetingScript);
  const file = writeFleetFile(harness, oneAgentYaml, "retention: { age: 1ms, jobs_per_agent: 1 }");
  const first = await startFleetInProcess(harness, file);
  const jobs: Job[] = [];
  for (let index = 0; index < 2; index += 1) {
    const { job } = await first.jobs.trigger({ ...manualTrigger, prompt: "hello" });
    jobs.push(await first.jobs.wait(job.id));
  }
  await first.stop();
  const second = await startFleetInProcess(harness, file);
  await waitUntil(
    "the old one to go",
    async () => (await second.jobs.get(jobs[0]?.id ?? "")) === undefined,
  );
  expect(existsSync(dirname(jobs[0]?.output_file ?? ""))).toBe(false);
});
