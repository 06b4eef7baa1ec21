import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDueTimes } from "../../packages/core/src/triggers/schedules/due-times.ts";
import { wasSetBack } from "../../packages/core/src/triggers/schedules/reconcile-schedules.ts";
import type { SchedulePlan } from "../../packages/core/src/triggers/schedules/schedule-plan.ts";
import {
  type DueDecision,
  nextStartTime,
  type ScheduleState,
  settleDueTimes,
  upcomingDueTimes,
} from "../../packages/core/src/triggers/schedules/settle-due-times.ts";
import { sampleCount } from "../support/test-subset.ts";

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const began = Date.UTC(2026, 2, 27, 12);

const hourly: SchedulePlan = { type: "cron", cron: "0 * * * *", timezone: "Europe/Berlin" };

function planned(plan: SchedulePlan, more: Partial<ScheduleState> = {}): ScheduleState {
  const catchUp = { policy: "latest" as const, windowMs: dayMs };
  return {
    plan,
    catchUp,
    firstInForceAt: began,
    settledThrough: began,
    settledAhead: [],
    isRunning: false,
    ...more,
  };
}

describe("due times missed while the fleet is down", () => {
  const cases: [string, ScheduleState["catchUp"], away: number, expected: string][] = [
    [
      "treats a short delay as on time",
      { policy: "skip", windowMs: dayMs },
      hourMs + 5 * secondMs,
      "ran 1",
    ],
    [
      "runs only the latest",
      { policy: "latest", windowMs: dayMs },
      5.5 * hourMs,
      "superseded 4, ran 1",
    ],
    ["runs none", { policy: "skip", windowMs: dayMs }, 5.5 * hourMs, "not_caught_up 5"],
    ["runs all", { policy: "all", windowMs: dayMs }, 5.5 * hourMs, "ran 5"],
    [
      "runs all of the window",
      { policy: "all", windowMs: 2 * hourMs },
      5.5 * hourMs,
      "too_old 3, ran 2",
    ],
    [
      "runs at most a hundred",
      { policy: "all", windowMs: 90 * dayMs },
      200.5 * hourMs,
      "too_many 100, ran 100",
    ],
    ["runs nothing old", { policy: "latest", windowMs: 10 * minuteMs }, 5.5 * hourMs, "too_old 5"],
    [
      "runs one on time and none late",
      { policy: "skip", windowMs: dayMs },
      5 * hourMs,
      "not_caught_up 4, ran 1",
    ],
  ];
  test.each(cases)("%s", (_, catchUp, away, expected) => {
    const verdicts = settleDueTimes(planned(hourly, { catchUp }), began + away);
    const missed = verdicts.filter((one) => one.kind === "missed");
    const ran = verdicts.filter((one) => one.kind === "run").length;
    const parts = missed.map(({ reason, count }) => `${reason} ${count}`);
    expect([...parts, ...(ran ? [`ran ${ran}`] : [])].join(", ")).toBe(expected);
  });

  test("does not iterate over very many due times", () => {
    const everySecond: SchedulePlan = { type: "cron", cron: "* * * * * *", timezone: "UTC" };
    const began = performance.now();
    const [missed] = settleDueTimes(
      planned(everySecond),
      planned(everySecond).settledThrough + 300 * dayMs,
    );
    expect(missed).toMatchObject({ kind: "missed", count: null });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe("interval schedules", () => {
  const every = 10 * minuteMs;
  test("waits from the end for an unfinished run, and counts from its end", () => {
    const plan: SchedulePlan = { type: "interval", every, from: "end" };
    expect(nextStartTime(planned(plan), began)).toBe(began + every);
    expect(nextStartTime(planned(plan, { isRunning: true }), began)).toBeUndefined();
    expect(nextStartTime(planned(plan, { lastEndMs: began + hourMs }), began + hourMs)).toBe(
      began + hourMs + every,
    );
  });

  test("counts from now once after a missed end", () => {
    const plan: SchedulePlan = { type: "interval", every, from: "end" };
    const now = began + 3 * dayMs;
    const verdicts = settleDueTimes(planned(plan), now);
    expect(verdicts).toMatchObject([
      { kind: "missed", reason: "too_old", count: 1, settledThrough: now },
    ]);
    expect(nextStartTime(planned(plan, { settledThrough: now }), now)).toBe(now + every);
  });

  test("keeps the grid from the start, however late a run was", () => {
    const plan: SchedulePlan = { type: "interval", every, from: "start" };
    const verdicts = settleDueTimes(planned(plan), began + 25 * minuteMs);
    expect(verdicts.map(({ settledThrough }) => settledThrough - began)).toEqual([
      10 * minuteMs,
      20 * minuteMs,
    ]);
    expect(nextStartTime(planned(plan, { settledThrough: began + 20 * minuteMs }), began)).toBe(
      began + 30 * minuteMs,
    );
  });
});

test("runs a skipped local time at the end of the gap, a repeated one once, and a zone's at its own hour", () => {
  const next = (text: string, timezone: string) =>
    new Date(nextStartTime(planned({ type: "at", at: text, timezone }), began) ?? 0).toISOString();
  expect(next("2026-03-29T02:30", "Europe/Berlin")).toBe("2026-03-29T01:00:00.000Z");
  expect(next("2026-10-25T02:30", "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
  expect(next("2026-12-01T09:00", "Asia/Kolkata")).toBe("2026-12-01T03:30:00.000Z");
  expect(next("2026-12-01T09:00+02:00", "Asia/Kolkata")).toBe("2026-12-01T07:00:00.000Z");
  expect(
    nextStartTime(planned({ type: "at", at: "2026-01-01T00:00", timezone: "UTC" }), began),
  ).toBeUndefined();
});

test("supports six fields with seconds, and due times a year ahead", () => {
  const every20: SchedulePlan = { type: "cron", cron: "*/20 * * * * *", timezone: "UTC" };
  expect(upcomingDueTimes(planned(every20), began, 3).map((at) => at - began)).toEqual([
    20e3, 40e3, 60e3,
  ]);
  const leapDay: SchedulePlan = { type: "cron", cron: "0 0 29 2 *", timezone: "UTC" };
  expect(
    upcomingDueTimes(planned(leapDay), began, 2).map((at) => new Date(at).getUTCFullYear()),
  ).toEqual([2028, 2032]);
});

test("spreads starts with jitter in order and reproducibly", () => {
  const every5: SchedulePlan = { type: "cron", cron: "*/5 * * * *", timezone: "UTC" };
  const starts = (name: string) => {
    let through = began;
    return Array.from({ length: 50 }, () => {
      const one = planned(every5, {
        settledThrough: through,
        jitter: { maxDelayMs: hourMs, name },
      });
      const start = nextStartTime(one, began) ?? 0;
      expect(start).toBe(nextStartTime(one, began));
      through = upcomingDueTimes(one, began, 1)[0] ?? 0;
      expect(start).toBeGreaterThanOrEqual(through);
      return start;
    });
  };
  const [one, other] = [starts("a/one"), starts("a/other")];
  expect(one).toEqual([...one].sort((a, b) => a - b));
  expect(new Set(one.map((at) => at % (5 * minuteMs))).size).toBeGreaterThan(25);
  expect(one).not.toEqual(other);
});

/** A minimal ledger with a fleet around it. */
class ScheduleWorld {
  now = began;
  settledThrough = began;
  lastEnd: number | undefined;
  records: DueDecision[] = [];

  constructor(
    readonly plan: SchedulePlan,
    readonly catchUp: ScheduleState["catchUp"],
    readonly jitter: number,
  ) {}

  get planned(): ScheduleState {
    const ahead = this.records.flatMap((one) =>
      one.kind === "run" && one.due > this.settledThrough ? [one.due] : [],
    );
    const { plan, catchUp, settledThrough, lastEnd } = this;
    const jitter = this.jitter > 0 ? { maxDelayMs: this.jitter, name: "a/b" } : undefined;
    return {
      plan,
      catchUp,
      firstInForceAt: began,
      settledThrough,
      settledAhead: ahead,
      isRunning: false,
      lastEndMs: lastEnd,
      jitter,
    };
  }

  /** Settles what is due; a kill keeps only the first records. */
  tick(killedAfter = Number.POSITIVE_INFINITY): void {
    if (wasSetBack(this.settledThrough, this.now)) this.rewind();
    for (const verdict of settleDueTimes(this.planned, this.now).slice(0, killedAfter)) {
      if (verdict.kind === "run") expect(verdict.due).toBeLessThanOrEqual(this.now);
      this.records.push(verdict);
      this.settledThrough = Math.max(this.settledThrough, verdict.settledThrough);
    }
  }

  private rewind(): void {
    const isOpenAgain = (one: DueDecision) => one.kind === "missed" && one.last > this.now;
    const again = this.records.filter(isOpenAgain);
    this.records = this.records.filter((one) => !isOpenAgain(one));
    const firsts = again.flatMap((one) => (one.kind === "missed" ? [one.first - 1] : []));
    this.settledThrough = Math.min(this.now, ...firsts);
  }

  /** Advances the time of a running fleet: it checks at every due time and at least every 30 s. */
  advance(duration: number): void {
    const end = this.now + duration;
    for (let checks = 0; checks < 400 && this.now < end; checks++) {
      const start = nextStartTime(this.planned, this.now) ?? end;
      const setBack = wasSetBack(this.settledThrough, this.now);
      this.now = setBack ? this.now : Math.min(end, Math.max(start, this.now + 1));
      this.tick();
    }
    this.now = end;
    this.tick();
  }
}

const plans: SchedulePlan[] = [
  hourly,
  { type: "cron", cron: "*/20 1-3 * * *", timezone: "Europe/Berlin" },
  { type: "cron", cron: "30 2 * * *", timezone: "America/New_York" },
  { type: "interval", every: 45 * minuteMs, from: "start" },
  { type: "at", at: "2026-03-29T02:30", timezone: "Europe/Berlin" },
];

const stepArbitrary = fc.oneof(
  fc.record({ kind: fc.constant("live" as const), by: fc.integer({ min: 1, max: 6 * hourMs }) }),
  fc.record({ kind: fc.constant("away" as const), by: fc.integer({ min: 1, max: 2 * dayMs }) }),
  fc.record({
    kind: fc.constant("jump" as const),
    by: fc.integer({ min: -2 * dayMs, max: 3 * dayMs }),
  }),
  fc.record({ kind: fc.constant("killed" as const), by: fc.integer({ min: 0, max: 3 }) }),
);

describe("any sequence of clock changes and outages", () => {
  test("records and runs every due time exactly once", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...plans),
        fc.constantFrom("latest" as const, "all" as const, "skip" as const),
        fc.constantFrom(10 * minuteMs, 5 * hourMs, dayMs),
        fc.constantFrom(0, 7 * minuteMs),
        fc.array(stepArbitrary, { maxLength: 12 }),
        (plan, policy, window, jitter, steps) => {
          const world = new ScheduleWorld(plan, { policy, windowMs: window }, jitter);
          for (const { kind, by } of steps) {
            if (kind === "live") world.advance(by);
            if (kind === "away" || kind === "jump") world.now += by;
            if (kind === "jump") world.tick();
            if (kind === "killed") world.tick(by);
          }
          world.advance(30 * minuteMs);
          expectComplete(world);
        },
      ),
      { numRuns: sampleCount(1_000) },
    );
  }, 120_000);
});

function expectComplete({ plan, records, now, settledThrough }: ScheduleWorld): void {
  const runs = records.flatMap((one) => (one.kind === "run" ? [one.due] : []));
  expect(new Set(runs).size).toBe(runs.length);
  const times = createDueTimes(plan, { firstInForceAt: began, countsFrom: undefined });
  const spans = records.flatMap((one) => (one.kind === "missed" ? [one] : []));
  let due = times.after(began);
  for (; due !== undefined && due <= Math.min(now, settledThrough); due = times.after(due)) {
    const at = due;
    const covering = spans.filter(({ first, last }) => first <= at && at <= last).length;
    const ran = runs.includes(at) ? 1 : 0;
    expect(covering + ran, new Date(at).toISOString()).toBe(1);
  }
  const left = times.after(settledThrough);
  expect(left === undefined || left > now - 10 * minuteMs || runs.includes(left)).toBe(true);
}
