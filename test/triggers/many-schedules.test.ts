import type { DueRecord, FleetControl } from "@herdctl/core";
import { expect, test } from "vitest";
import { fleetFile, startFleet } from "../support/fleet-process.ts";
import { fleetProgram, until } from "../support/fleet-program.ts";
import { stage } from "../support/stage.ts";

const hi = { script: { rules: [{ reply: { text: "Done." } }] } };

function agents(count: number, schedule: string): string {
  return Array.from(
    { length: count },
    (_, index) => `  - { name: a${index}, runtime: cli, schedules: { due: ${schedule} } }`,
  ).join("\n");
}

function shortly(milliseconds: number): string {
  return new Date(Math.ceil((Date.now() + milliseconds) / 1000) * 1000).toISOString().slice(0, 19);
}

async function ledger(fleet: FleetControl): Promise<DueRecord[]> {
  const records: DueRecord[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await fleet.dueTimes({ limit: 1000, cursor });
    records.push(...page.records);
    if (page.next === null) return records;
    cursor = page.next;
  }
}

test("a hundred schedules at one second all start, hardly later than they should", async () => {
  const on = await stage(hi);
  const at = shortly(4_000);
  const schedule = `{ type: at, at: "${at}Z", prompt: p }`;
  const fleet = await fleetProgram(on, fleetFile(on, agents(100, schedule), "max_concurrent: 1"));
  const records = await until("all to be admitted", async () => {
    const all = await ledger(fleet.control);
    return all.length === 100 && all;
  });
  expect(records.map(({ result }) => result)).toEqual(records.map(() => "ran"));
  const skews = records
    .map(({ due_at, settled_at }) => Date.parse(settled_at) - Date.parse(due_at))
    .sort((a, b) => a - b);
  const [first, p99] = [skews[0] ?? -1, skews[98] ?? Number.POSITIVE_INFINITY];
  process.stdout.write(`start skew of 100 schedules: first ${first} ms, p99 ${p99} ms\n`);
  expect(first).toBeGreaterThanOrEqual(0);
  // One second on a machine of its own; tests share theirs.
  expect(p99).toBeLessThan(5_000);
  await fleet.stop();
}, 120_000);

test("a thousand schedules in the same second are admitted in the order they are written, none is lost", async () => {
  const on = await stage(hi);
  const schedule = `{ type: at, at: "${shortly(12_000)}Z", prompt: p }`;
  const fleet = await startFleet(on, fleetFile(on, agents(1000, schedule), "max_concurrent: 1"));
  await fleet.pauseAgent("a0");
  let [longest, last] = [0, performance.now()];
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 5);
  const records = await until(
    "all to be settled",
    async () => {
      const all = await ledger(fleet);
      return all.length === 1000 && all;
    },
    60_000,
  );
  clearInterval(watch);
  process.stdout.write(`the event loop was held up for ${Math.round(longest)} ms at most\n`);
  expect(new Set(records.map(({ agent }) => agent)).size).toBe(1000);
  expect(records.filter(({ reason }) => reason === "paused")).toHaveLength(1);
  const pages: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await fleet.jobs({ limit: 1000, cursor });
    pages.push(...page.jobs.map(({ agent }) => agent));
    if (page.next === null) break;
    cursor = page.next;
  }
  const expected = Array.from({ length: 999 }, (_, index) => `a${999 - index}`);
  expect(pages).toEqual(expected);
}, 180_000);

test("killed again and again while it ticks: each due time has one record and at most one job", async () => {
  const on = await stage(hi);
  const schedule = '{ type: cron, cron: "* * * * * *", overlap: allow, catch_up: all, prompt: p }';
  const file = fleetFile(on, agents(20, schedule), "max_concurrent: 1");
  const began = Date.now();
  let fleet = await fleetProgram(on, file);
  for (const pause of [1_700, 2_300, 1_100]) {
    // Just at a full second, when all are due.
    const next = Math.ceil((Date.now() + pause) / 1000) * 1000;
    await new Promise((done) => setTimeout(done, next - Date.now() + Math.random() * 40));
    await fleet.kill();
    fleet = await fleetProgram(on, file);
  }
  await new Promise((done) => setTimeout(done, 2_500));
  const records = await ledger(fleet.control);
  await fleet.stop();
  for (let index = 0; index < 20; index++) {
    const own = records.filter(({ agent }) => agent === `a${index}`);
    const times = own.map(({ due_at }) => Date.parse(due_at)).reverse();
    expect(times[0]).toBeGreaterThan(began);
    // Every second from the first to the last, each once.
    expect(times).toEqual(times.map((_, at) => (times[0] ?? 0) + at * 1000));
    expect(own.map(({ result }) => result)).toEqual(own.map(() => "ran"));
  }
  const jobs = records.map(({ job_id }) => job_id);
  expect(new Set(jobs).size).toBe(jobs.length);
}, 180_000);
