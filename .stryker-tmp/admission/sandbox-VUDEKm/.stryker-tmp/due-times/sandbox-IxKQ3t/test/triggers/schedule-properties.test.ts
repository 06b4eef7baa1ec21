import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createDueTimes } from "../../packages/core/src/triggers/schedules/due-times.ts";
import type { SchedulePlan } from "../../packages/core/src/triggers/schedules/schedule-plan.ts";
import { tempFolderWith } from "../support/temp-folder.ts";
import { ScheduleSimulation } from "./schedule-simulation.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** The day before the clock change in Berlin. */
const startedAt = Date.UTC(2026, 2, 28, 12);

const timezone = "Europe/Berlin";
const plans: Record<string, SchedulePlan> = {
  hourly: { type: "cron", cron: "0 * * * *", timezone },
  nightly: { type: "cron", cron: "30 2 * * *", timezone },
  grid: { type: "interval", every: 45 * minuteMs, from: "start" },
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
      grid: { type: interval, every: 45m, measured_from: start, overlap: queue, jitter: 5m }
      once: { type: at, at: 2026-03-29T02:30 }
      after: { type: interval, every: 20m }
`;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: startedAt });
});
afterEach(() => {
  vi.useRealTimers();
});

const integerUpTo = (max: number) => fc.integer({ min: 1, max });
const stepArbitrary = fc.oneof(
  fc.record({ kind: fc.constant("live" as const), by: integerUpTo(4 * hourMs) }),
  fc.record({ kind: fc.constant("asleep" as const), by: integerUpTo(dayMs) }),
  fc.record({ kind: fc.constant("set" as const), by: fc.integer({ min: -dayMs, max: dayMs }) }),
  fc.record({ kind: fc.constant("restart" as const), by: integerUpTo(dayMs) }),
  fc.record({
    kind: fc.constant("killed" as const),
    by: integerUpTo(2 * hourMs),
    words: integerUpTo(6),
  }),
  fc.record({ kind: fc.constant("finish" as const), by: integerUpTo(hourMs) }),
);

test("records and runs every due time once through clock jumps, sleep, restarts and kills", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(stepArbitrary, { minLength: 1, maxLength: 8 }), async (steps) => {
      vi.setSystemTime(startedAt);
      const simulation = new ScheduleSimulation(tempFolderWith({ "herdctl.yaml": fleet }));
      await simulation.start();
      for (const one of steps) await applyStep(simulation, one);
      await simulation.advance(10 * minuteMs);
      await simulation.settleNow();
      for (const [name, plan] of Object.entries(plans))
        await expectComplete(simulation, name, plan);
      await expectNoDuplicates(simulation, "after");
      await simulation.stop();
    }),
    { numRuns: 40 },
  );
}, 240_000);

type Step = typeof stepArbitrary extends fc.Arbitrary<infer T> ? T : never;

async function applyStep(simulation: ScheduleSimulation, one: Step): Promise<void> {
  if (one.kind === "live") return simulation.advance(one.by);
  if (one.kind === "killed") return simulation.killAfter(one.words, one.by);
  if (one.kind === "finish") {
    await simulation.finishAllJobs();
    return simulation.advance(one.by);
  }
  if (one.kind === "restart") await simulation.stop();
  simulation.setClock(one.by);
  return one.kind === "restart" ? simulation.start() : simulation.advance(minuteMs);
}

async function expectNoDuplicates(simulation: ScheduleSimulation, name: string) {
  const records = await simulation.records(name);
  const jobs = records.flatMap(({ job_id }) => job_id ?? []);
  expect(new Set(jobs).size, name).toBe(jobs.length);
  expect([...jobs].sort(), name).toEqual((await simulation.jobs(name)).sort());
  const single = records.filter(({ result }) => result !== "missed").map(({ due_at }) => due_at);
  expect(new Set(single).size, name).toBe(single.length);
  return records;
}

async function expectComplete(
  simulation: ScheduleSimulation,
  name: string,
  plan: SchedulePlan,
): Promise<void> {
  const records = await expectNoDuplicates(simulation, name);
  const end = Math.min(Date.now(), await simulation.settledThrough(name));
  const times = createDueTimes(plan, { firstInForceAt: startedAt, countsFrom: undefined });
  for (let due = times.after(startedAt); due !== undefined && due <= end; due = times.after(due)) {
    const at = new Date(due).toISOString();
    const covering = records.filter(
      ({ due_at, last_due_at: until }) => due_at <= at && at <= until,
    );
    expect(covering.length, `${name} ${at}`).toBe(1);
  }
  // Everything older than its jitter is settled.
  const open = times.after(await simulation.settledThrough(name));
  const isAhead = records.some(({ due_at }) => Date.parse(due_at) === open);
  expect(open === undefined || open > Date.now() - 6 * minuteMs || isAhead, name).toBe(true);
}
