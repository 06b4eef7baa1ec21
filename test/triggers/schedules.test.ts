import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import type { DueTimeRecord, FleetControl } from "@herdctl/protocol";
import { describe, expect, test } from "vitest";
import { waitUntil } from "../support/fleet-child-process.ts";
import { startHarness } from "../support/harness.ts";
import { startFleetInProcess, writeFleetFile } from "../support/in-process-fleet.ts";

const greetingScript = { script: { rules: [{ reply: { text: "Done." } }] } };

function agent(schedules: string, more = ""): string {
  return `  - name: one
    runtime: cli
    ${more}
    schedules:
${schedules
  .trim()
  .split("\n")
  .map((line) => `      ${line.trim()}`)
  .join("\n")}`;
}

async function readLedger(fleet: FleetControl, schedule?: string): Promise<DueTimeRecord[]> {
  return (await fleet.schedules.dueTimes({ agent: "one", schedule, limit: 1000 })).due_times;
}

function waitForLedger(
  fleet: FleetControl,
  what: string,
  holds: (records: DueTimeRecord[]) => boolean,
): Promise<DueTimeRecord[]> {
  return waitUntil(what, async () => {
    const records = await readLedger(fleet);
    return holds(records) && records;
  });
}

describe("schedules in a running fleet", () => {
  test("runs a due schedule, counts from the end of its run, and keeps one record per due time", async () => {
    const harness = await startHarness(greetingScript);
    const file = writeFleetFile(
      harness,
      agent("often: { type: interval, every: 300ms, prompt: Look around }"),
    );
    const fleet = await startFleetInProcess(harness, file);
    const records = await waitForLedger(fleet, "three runs", (all) => all.length >= 3);
    expect(records.map(({ result }) => result)).toEqual(records.map(() => "ran"));
    const [last, before] = records;
    const job = await fleet.jobs.get(before?.job_id ?? "");
    expect(job?.job).toMatchObject({
      schedule: "often",
      trigger_type: "interval",
      status: "completed",
    });
    const waited = Date.parse(last?.due_at ?? "") - Date.parse(job?.job.finished_at ?? "");
    expect(waited).toBe(300);
  });

  test("records a skipped due time while the previous run or a pause lasts", async () => {
    const slow = { text: "Done.", delay: { first: "20s" } };
    const harness = await startHarness({ script: { rules: [{ reply: slow }] } });
    const yaml = 'tick: { type: cron, cron: "* * * * * *", prompt: Look }';
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent(yaml)));
    await waitForLedger(fleet, "an overlap", (all) =>
      all.some(({ reason }) => reason === "overlap"),
    );
    await fleet.agents.pause("one");
    const records = await waitForLedger(fleet, "a pause", (all) =>
      all.some(({ reason }) => reason === "paused"),
    );
    expect(records.filter(({ result }) => result === "ran")).toHaveLength(1);
    const paused = records.find(({ reason }) => reason === "paused");
    expect(paused).toMatchObject({ result: "skipped", job_id: null });
    const times = records.map(({ due_at }) => due_at);
    expect(new Set(times).size).toBe(times.length);
  });

  test("switches a schedule off and on by hand across a restart, and shows the next due time", async () => {
    const harness = await startHarness(greetingScript);
    const file = writeFleetFile(harness, agent("daily: { type: cron, cron: '@daily', prompt: p }"));
    const fleet = await startFleetInProcess(harness, file);
    const [view] = await fleet.schedules.list();
    expect(view).toMatchObject({ enabled: true, overridden: false, last: null });
    expect(view?.next).toHaveLength(5);
    const { agents } = await fleet.status();
    expect(agents[0]?.next_due).toEqual({ schedule: "daily", due_at: view?.next[0] });
    const name = { agent: "one", schedule: "daily" };
    expect(await fleet.schedules.disable(name)).toMatchObject({ enabled: false, next: [] });
    await fleet.shutdown({ drainMs: 0 });
    const second = await startFleetInProcess(harness, file);
    expect((await second.status()).agents[0]?.next_due).toBeNull();
    expect(await second.schedules.list()).toMatchObject([{ enabled: false, overridden: true }]);
    expect((await second.schedules.enable(name)).next).toEqual(view?.next);
    const wrong = second.schedules.enable({ agent: "one", schedule: "none" });
    await expect(wrong).rejects.toMatchObject({ code: "schedule_not_found" });
  });

  test("records a schedule as missed whose time was over when it was first read", async () => {
    const harness = await startHarness(greetingScript);
    const yaml = "once: { type: at, at: '2020-01-01T00:00', timezone: UTC, prompt: p }";
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent(yaml)));
    expect(await readLedger(fleet)).toMatchObject([
      {
        due_at: "2020-01-01T00:00:00.000Z",
        result: "missed",
        reason: "already_past",
        job_id: null,
      },
    ]);
  });
});

describe("gates of a schedule", () => {
  test("passes the output of an open gate to the prompt, fenced", async () => {
    const harness = await startHarness(greetingScript);
    const yaml = `ask: { type: interval, every: 200ms, prompt: "Look at {{gate.output}}", gate: { command: "echo 3 issues for $HERDCTL_AGENT", timeout: 10s } }`;
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent(yaml)));
    const [record] = await waitForLedger(fleet, "a run", (all) => all.length > 0);
    const found = await fleet.jobs.get(record?.job_id ?? "");
    expect(found?.job.prompt).toMatch(
      /<untrusted-data from="gate.output"[^>]*>\n3 issues for one\n/,
    );
  });

  test("costs nothing and leaves no process when a gate is closed or too slow", async () => {
    const harness = await startHarness(greetingScript);
    const yaml = `
      no: { type: interval, every: 200ms, prompt: p, gate: { command: "echo not today >&2; exit 7" } }
      slow: { type: interval, every: 200ms, prompt: p, gate: { command: "sleep 87 & sleep 88", timeout: 300ms } }`;
    const fleet = await startFleetInProcess(harness, writeFleetFile(harness, agent(yaml)));
    const records = await waitForLedger(fleet, "both gates", (all) =>
      ["no", "slow"].every((name) => all.some(({ schedule }) => schedule === name)),
    );
    expect(new Set(records.map(({ reason }) => reason))).toEqual(new Set(["gate_closed"]));
    const { jobs } = await fleet.jobs.list({ outcome: "gate_closed", limit: 100 });
    const words = jobs.map(({ schedule, outcome }) => `${schedule}: ${outcome?.message}`);
    expect(words).toContain("no: The gate is closed: exit 7\nnot today");
    expect(words).toContain("slow: The gate is closed: it took too long");
    const byHand = await fleet.jobs.trigger({ agent: "one", schedule: "no" });
    expect(byHand.job).toMatchObject({ status: "skipped", outcome: { code: "gate_closed" } });
    await fleet.shutdown({ drainMs: 0 });
    expect(harness.rehearsal.ledger.main).toEqual([]);
    expect(sleepingProcesses()).toEqual([]);
  });
});

function sleepingProcesses(): string[] {
  const all = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
  return all.split("\n").filter((line) => /^sleep 8[78]$/.test(line.trim()));
}

describe("budget of a fleet", () => {
  test("limits jobs of schedules and people together, across a restart, until it is raised", async () => {
    const harness = await startHarness(greetingScript);
    const more = "budget: { daily_jobs: 2 }";
    const file = writeFleetFile(
      harness,
      agent("often: { type: interval, every: 200ms, prompt: p }", more),
    );
    const fleet = await startFleetInProcess(harness, file);
    await waitForLedger(fleet, "a refusal", (all) =>
      all.some(({ reason }) => reason === "budget_exceeded"),
    );
    await fleet.shutdown({ drainMs: 20_000 });
    const second = await startFleetInProcess(harness, file);
    const manual = { agent: "one", prompt: "by hand" };
    const { job } = await second.jobs.trigger(manual);
    expect(job).toMatchObject({ status: "skipped", outcome: { code: "budget_exceeded" } });
    await second.schedules.disable({ agent: "one", schedule: "often" });
    const raised = await second.budget.raise({ agent: "one", jobs: 1 });
    expect(raised.agents[0]).toMatchObject({ limits: { jobs: 3, usd: null }, spent: { jobs: 2 } });
    expect((await second.jobs.trigger(manual)).job.status).toBe("pending");
    expect((await second.jobs.trigger(manual)).job.status).toBe("skipped");
  });
});

describe("changes of configuration files", () => {
  test("applies changes automatically, and keeps the old configuration with a problem when a file is invalid", async () => {
    const harness = await startHarness(greetingScript);
    const file = writeFleetFile(harness, agent("daily: { type: cron, cron: '@daily', prompt: p }"));
    const text = readFileSync(file, "utf8");
    const fleet = await startFleetInProcess(harness, file);
    const plan = async () => (await fleet.schedules.list()).map(({ when }) => when).join();
    expect(await plan()).toBe("@daily");
    await changeFleetFile(
      file,
      text.replace("@daily", "@hourly"),
      async () => (await plan()) === "@hourly",
    );
    await changeFleetFile(file, text.replace("cron: '@daily'", "cron: 'never'"), async () =>
      (await fleet.status()).fleet.problem?.includes("never"),
    );
    expect(await plan()).toBe("@hourly");
    await changeFleetFile(file, text, async () => (await fleet.status()).fleet.problem === null);
    expect(await plan()).toBe("@daily");
    expect(await readLedger(fleet)).toEqual([]);
  });

  test("ignores changes when the fleet is configured so", async () => {
    const harness = await startHarness(greetingScript);
    const file = writeFleetFile(
      harness,
      agent("a: { type: cron, cron: '@daily', prompt: p }"),
      "watch: false",
    );
    const fleet = await startFleetInProcess(harness, file);
    writeFileSync(file, readFileSync(file, "utf8").replace("@daily", "@hourly"));
    await new Promise((done) => setTimeout(done, 1_500));
    expect((await fleet.schedules.list())[0]?.when).toBe("@daily");
    await fleet.reload();
    expect((await fleet.schedules.list())[0]?.when).toBe("@hourly");
  });

  test("settles due times of a changed schedule first and leaves other schedules alone", async () => {
    const harness = await startHarness(greetingScript);
    const yaml = (every: string) => `
      kept: { type: cron, cron: "* * * * * *", overlap: allow, prompt: p }
      moved: { type: interval, every: ${every}, measured_from: start, overlap: allow, prompt: p }`;
    const file = writeFleetFile(harness, agent(yaml("700ms")), "max_concurrent: 2, watch: false");
    const fleet = await startFleetInProcess(harness, file);
    await waitForLedger(fleet, "some runs", (all) => all.length > 4);
    for (const every of ["900ms", "1100ms", "700ms"]) {
      writeFileSync(file, readFileSync(file, "utf8").replace(/every: \d+ms/, `every: ${every}`));
      await fleet.reload();
      const before = (await readLedger(fleet)).length;
      await waitForLedger(fleet, "more runs", (all) => all.length > before + 4);
    }
    const kept = (await readLedger(fleet, "kept"))
      .map(({ due_at }) => Date.parse(due_at))
      .reverse();
    expect(kept.slice(1).map((due, index) => due - (kept[index] ?? 0))).toEqual(
      kept.slice(1).map(() => 1_000),
    );
  });
});

async function changeFleetFile(
  file: string,
  text: string,
  holds: () => Promise<boolean | undefined>,
): Promise<void> {
  writeFileSync(file, text);
  await waitUntil("the change to be seen", holds);
}
