import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { dueTimesOf } from "../../packages/core/src/triggers/schedule/due-times.ts";
import type { Plan } from "../../packages/core/src/triggers/schedule/plan.ts";
import { folderWith } from "../support/folder.ts";
import { ClockWorld } from "./clock-world.ts";

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
/** The day before clocks are set in Berlin. */
const began = Date.UTC(2026, 2, 28, 12);

const timezone = "Europe/Berlin";
const plans: Record<string, Plan> = {
  hourly: { type: "cron", cron: "0 * * * *", timezone },
  nightly: { type: "cron", cron: "30 2 * * *", timezone },
  grid: { type: "interval", every: 45 * minute, from: "start" },
  once: { type: "at", at: "2026-03-29T02:30", timezone },
};
const fleet = `version: 1
fleet: { name: test, timezone: ${timezone} }
agents:
  - name: one
    default_prompt: p
    schedules:
      hourly: { type: cron, cron: "0 * * * *", overlap: allow, catch_up: all }
      nightly: { type: cron, cron: "30 2 * * *", catch_up_window: 6h }
      grid: { type: interval, every: 45m, from: start, overlap: queue, jitter: 5m }
      once: { type: at, at: 2026-03-29T02:30 }
      after: { type: interval, every: 20m }
`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: began });
});
afterEach(() => {
  vi.useRealTimers();
});

const upTo = (max: number) => fc.integer({ min: 1, max });
const step = fc.oneof(
  fc.record({ kind: fc.constant("live" as const), by: upTo(4 * hour) }),
  fc.record({ kind: fc.constant("asleep" as const), by: upTo(day) }),
  fc.record({ kind: fc.constant("set" as const), by: fc.integer({ min: -day, max: day }) }),
  fc.record({ kind: fc.constant("restart" as const), by: upTo(day) }),
  fc.record({ kind: fc.constant("killed" as const), by: upTo(2 * hour), words: upTo(6) }),
  fc.record({ kind: fc.constant("finish" as const), by: upTo(hour) }),
);

test("jumps, sleep, restarts and kills: no due time runs twice, none has two records, none has none", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
      vi.setSystemTime(began);
      const world = new ClockWorld(folderWith({ "herdctl.yaml": fleet }));
      await world.begin();
      for (const one of steps) await take(world, one);
      await world.live(10 * minute);
      await world.settleNow();
      for (const [name, plan] of Object.entries(plans)) await expectWhole(world, name, plan);
      await expectNoneTwice(world, "after");
      await world.end();
    }),
    { numRuns: 40 },
  );
}, 240_000);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(world: ClockWorld, one: Step): Promise<void> {
  if (one.kind === "live") return world.live(one.by);
  if (one.kind === "killed") return world.killAfter(one.words, one.by);
  if (one.kind === "finish") {
    await world.finishAll();
    return world.live(one.by);
  }
  if (one.kind === "restart") await world.end();
  world.set(one.by);
  return one.kind === "restart" ? world.begin() : world.live(minute);
}

async function expectNoneTwice(world: ClockWorld, name: string) {
  const records = await world.records(name);
  const jobs = records.flatMap(({ job_id }) => job_id ?? []);
  expect(new Set(jobs).size, name).toBe(jobs.length);
  expect([...jobs].sort(), name).toEqual((await world.jobs(name)).sort());
  const single = records.filter(({ result }) => result !== "missed").map(({ due_at }) => due_at);
  expect(new Set(single).size, name).toBe(single.length);
  return records;
}

async function expectWhole(world: ClockWorld, name: string, plan: Plan): Promise<void> {
  const records = await expectNoneTwice(world, name);
  const end = Math.min(Date.now(), await world.through(name));
  const times = dueTimesOf(plan, { since: began, base: undefined });
  for (let due = times.after(began); due !== undefined && due <= end; due = times.after(due)) {
    const at = new Date(due).toISOString();
    const covering = records.filter(({ due_at, until }) => due_at <= at && at <= until);
    expect(covering.length, `${name} ${at}`).toBe(1);
  }
  // All that is over by more than its jitter is settled.
  const open = times.after(await world.through(name));
  const isAhead = records.some(({ due_at }) => Date.parse(due_at) === open);
  expect(open === undefined || open > Date.now() - 6 * minute || isAhead, name).toBe(true);
}
