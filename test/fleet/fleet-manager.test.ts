import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FleetEvent, Job } from "@herdctl/core";
import { describe, expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { until } from "../support/fleet-program.ts";
import { processesWith } from "../support/processes.ts";
import { obey } from "../support/runtime.ts";
import { stage } from "../support/stage.ts";

const manual = { trigger: "manual" as const, agent: "one" };
const hi = { script: { rules: [{ reply: "Good morning." }] } };
const oneAgent = "  - { name: one, runtime: cli }";
const endless = obey(["Bash", { command: "echo x >> began; tail -f /dev/null" }]);

test.each(["sdk", "cli"])("a trigger becomes one recorded job (%s)", async (runtime) => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, `  - { name: one, runtime: ${runtime} }`));
  const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
  const ended = await fleet.wait(job.id);
  expect(ended).toMatchObject({
    status: "completed",
    outcome: { code: "success" },
    summary: "Good morning.",
    attempts: 1,
  });
  expect(ended.cost_usd).toBeGreaterThan(0);
  expect(on.rehearsal.ledger.main).toHaveLength(1);
  expect(processesWith(job.id)).toEqual([]);
});

test("events tell the story of a job in order", async () => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const seen: string[] = [];
  const types: FleetEvent["type"][] = ["job:created", "job:started", "job:output", "job:completed"];
  for (const type of types) fleet.on(type, () => seen.push(type));
  const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
  await fleet.wait(job.id);
  expect(seen[0]).toBe("job:created");
  expect(seen[1]).toBe("job:started");
  expect(seen.filter((type) => type === "job:output").length).toBeGreaterThanOrEqual(3);
  expect(seen.at(-1)).toBe("job:completed");
});

test("a hundred triggers with one key are one job", async () => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, oneAgent));
  const all = await Promise.all(
    Array.from({ length: 100 }, () =>
      fleet.trigger({ ...manual, prompt: "hello", key: "the-key" }),
    ),
  );
  expect(new Set(all.map(({ job }) => job.id)).size).toBe(1);
  expect(all.filter(({ created }) => created)).toHaveLength(1);
  await fleet.wait(all[0]?.job.id ?? "");
  expect(on.rehearsal.ledger.main).toHaveLength(1);
});

describe("cancel", () => {
  test("a job that waits for its turn ends at once; one that runs is asked to stop", async () => {
    const on = await stage({ mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, oneAgent));
    const first = (await fleet.trigger({ ...manual, prompt: endless })).job;
    const second = (await fleet.trigger({ ...manual, prompt: "hello" })).job;
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    expect(await fleet.cancel(second.id)).toMatchObject({ status: "cancelled", attempts: 0 });
    await fleet.cancel(first.id);
    expect(await fleet.wait(first.id)).toMatchObject({
      status: "cancelled",
      outcome: { code: "cancelled" },
    });
    expect(processesWith(first.id)).toEqual([]);
  });

  test("by force it does not ask", async () => {
    const on = await stage({ mode: "obedient" });
    const fleet = await startFleet(on, fleetFile(on, oneAgent));
    const { job } = await fleet.trigger({ ...manual, prompt: endless });
    await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
    const began = Date.now();
    await fleet.cancel(job.id, { force: true });
    expect(await fleet.wait(job.id)).toMatchObject({ status: "cancelled" });
    expect(Date.now() - began).toBeLessThan(5_000);
  });
});

describe("after a failure", () => {
  test("an overloaded API is tried again in the same session", async () => {
    const on = await stage({
      script: { rules: [{ reply: "At last.", fault: { status: 529, times: 2 } }] },
    });
    const fleet = await startFleet(on, fleetFile(on, oneAgent));
    const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
    const ended = await fleet.wait(job.id);
    expect(ended).toMatchObject({ status: "completed", attempts: 2, summary: "At last." });
  }, 60_000);

  test("a usage limit waits for its reset and goes on in the same session", async () => {
    const reset = Math.ceil(Date.now() / 1000) + 4;
    const headers = {
      "retry-after": "120",
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-reset": String(reset),
    };
    const on = await stage({
      script: { rules: [{ reply: "Refreshed.", fault: { status: 429, headers, times: 1 } }] },
    });
    const fleet = await startFleet(on, fleetFile(on, oneAgent));
    const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
    const waiting = await until("the job to wait", async () => {
      const found = (await fleet.job(job.id))?.job;
      return found?.status === "waiting" && found;
    });
    expect(waiting.outcome).toMatchObject({
      code: "usage_limit",
      resets_at: new Date(reset * 1000).toISOString(),
    });
    const ended = await fleet.wait(job.id);
    expect(Date.now()).toBeGreaterThanOrEqual(reset * 1000);
    expect(ended).toMatchObject({
      status: "completed",
      attempts: 2,
      session_id: waiting.session_id,
    });
  });

  test("a refused credential fails one job, says so once, and leaves the others waiting", async () => {
    const on = await stage({
      script: { rules: [{ reply: "Welcome.", fault: { status: 401, times: 1 } }] },
    });
    const fleet = await startFleet(
      on,
      fleetFile(on, `${oneAgent}\n  - { name: two, runtime: cli }`, "max_concurrent: 1"),
    );
    const paused: string[] = [];
    fleet.on("agent:paused", ({ reason }) => paused.push(reason));
    const jobs = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        return (
          await fleet.trigger({ ...manual, agent: index % 2 ? "one" : "two", prompt: "hello" })
        ).job;
      }),
    );
    const hasFailed = async () =>
      (await fleet.jobs({ limit: 20 })).jobs.some(({ status }) => status === "failed");
    await until("the first to fail", hasFailed, 60_000);
    await new Promise((done) => setTimeout(done, 500));
    const { fleet: counts, agents } = await fleet.status();
    expect(counts.pending).toBe(19);
    expect(paused).toHaveLength(1);
    expect(agents.every((agent) => agent.paused !== null)).toBe(true);
    await fleet.resumeAgent("one");
    const ended = await Promise.all(jobs.map((job) => fleet.wait(job.id)));
    expect(ended.filter((job) => job.status === "completed")).toHaveLength(19);
  }, 300_000);
});

test("a paused agent waits, others do not", async () => {
  const on = await stage(hi);
  const fleet = await startFleet(on, fleetFile(on, `${oneAgent}\n  - { name: two, runtime: cli }`));
  await fleet.pauseAgent("one");
  const held = (await fleet.trigger({ ...manual, prompt: "hello" })).job;
  const free = (await fleet.trigger({ ...manual, agent: "two", prompt: "hello" })).job;
  expect((await fleet.wait(free.id)).status).toBe("completed");
  expect((await fleet.job(held.id))?.job.status).toBe("pending");
  await fleet.resumeAgent("one");
  expect((await fleet.wait(held.id)).status).toBe("completed");
});

test("an approval is answered from elsewhere", async () => {
  const on = await stage({ mode: "obedient" });
  const fleet = await startFleet(
    on,
    fleetFile(on, "  - { name: one, runtime: cli, permission_mode: default }"),
  );
  const { job } = await fleet.trigger({
    ...manual,
    prompt: obey(["Bash", { command: "touch asked" }]),
  });
  const [approval] = await until("the question", async () => {
    const open = await fleet.approvals();
    return open.length > 0 && open;
  });
  expect(approval).toMatchObject({ job_id: job.id, tool: "Bash" });
  expect((await fleet.job(job.id))?.job.status).toBe("waiting");
  await fleet.answer(approval?.id ?? "", "allow", "a colleague");
  await expect(fleet.answer(approval?.id ?? "", "deny", "a late one")).rejects.toThrow(/closed/);
  expect((await fleet.wait(job.id)).outcome?.code).toBe("success");
  expect(existsSync(join(on.workspace, "asked"))).toBe(true);
});

test("a reload with a mistake leaves the old configuration in force and says so", async () => {
  const on = await stage(hi);
  const file = fleetFile(on, oneAgent);
  const fleet = await startFleet(on, file);
  const good = readFileSync(file, "utf8");
  writeFileSync(file, good.replace("name: one", "nmae: one"));
  await expect(fleet.reload()).rejects.toThrow(/nmae/);
  expect((await fleet.status()).fleet.problem).toContain("nmae");
  const { job } = await fleet.trigger({ ...manual, prompt: "hello" });
  expect((await fleet.wait(job.id)).status).toBe("completed");
  writeFileSync(file, good.replace("name: one", "name: uno"));
  await fleet.reload();
  expect((await fleet.status()).agents.map((agent) => agent.name)).toEqual(["uno"]);
  expect((await fleet.status()).fleet.problem).toBeNull();
});

test("a second fleet on the same state is refused and told who is first", async () => {
  const on = await stage(hi);
  const file = fleetFile(on, oneAgent);
  await startFleet(on, file);
  await expect(startFleet(on, file)).rejects.toThrow(new RegExp(String(process.pid)));
});

test("stopping drains: what can finish does, what cannot is interrupted and can be resumed", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, "  - { name: one, runtime: cli, max_concurrent: 2 }");
  const fleet = await startFleet(on, file);
  const quick = (
    await fleet.trigger({ ...manual, prompt: obey(["Bash", { command: "sleep 1; echo done" }]) })
  ).job;
  const stuck = (await fleet.trigger({ ...manual, prompt: endless })).job;
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  await fleet.stop({ drainMs: 3_000 });
  const again = await startFleet(on, file);
  expect((await again.job(quick.id))?.job).toMatchObject({ status: "completed" });
  const interrupted = (await again.job(stuck.id))?.job;
  expect(interrupted).toMatchObject({ status: "failed", outcome: { code: "interrupted" } });
  const resumed = await again.trigger({ ...manual, prompt: "go on", resume: stuck.id });
  expect((await again.wait(resumed.job.id)).session_id).toBe(interrupted?.session_id);
});

test("a trigger while the fleet stops is refused; what was pending runs in the next", async () => {
  const on = await stage({ mode: "obedient" });
  const file = fleetFile(on, oneAgent);
  const fleet = await startFleet(on, file);
  const running = (await fleet.trigger({ ...manual, prompt: endless })).job;
  const pending = (await fleet.trigger({ ...manual, prompt: "hello" })).job;
  await until("the tool to begin", async () => existsSync(join(on.workspace, "began")));
  const stopped = fleet.stop({ drainMs: 200 });
  await expect(fleet.trigger({ ...manual, prompt: "late" })).rejects.toThrow(/stopping/);
  await stopped;
  const next = await startFleet(on, file);
  expect((await next.wait(pending.id)).status).toBe("completed");
  expect((await next.job(running.id))?.job.outcome?.code).toBe("interrupted");
});

test("old jobs go, with their folders; the newest of each agent stay", async () => {
  const on = await stage(hi);
  const file = fleetFile(on, oneAgent, "retention: { age: 1ms, jobs_per_agent: 1 }");
  const first = await startFleet(on, file);
  const jobs: Job[] = [];
  for (let index = 0; index < 2; index += 1) {
    const { job } = await first.trigger({ ...manual, prompt: "hello" });
    jobs.push(await first.wait(job.id));
  }
  await first.stop();
  const second = await startFleet(on, file);
  await until("the old to go", async () => !existsSync(dirname(jobs[0]?.output_file ?? "")));
  expect(await second.job(jobs[0]?.id ?? "")).toBeUndefined();
});
