import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { wasSetBack } from "../../packages/core/src/triggers/schedule/clock-jump.ts";
import { dueTimesOf } from "../../packages/core/src/triggers/schedule/due-times.ts";
import type { Plan } from "../../packages/core/src/triggers/schedule/plan.ts";
import {
  nextStart,
  type Planned,
  settle,
  upcoming,
  type Verdict,
} from "../../packages/core/src/triggers/schedule/settle.ts";
import { samples } from "../support/width.ts";

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;
const began = Date.UTC(2026, 2, 27, 12);

const hourly: Plan = { type: "cron", cron: "0 * * * *", timezone: "Europe/Berlin" };

function planned(plan: Plan, more: Partial<Planned> = {}): Planned {
  const catchUp = { policy: "latest" as const, window: day };
  return { plan, catchUp, since: began, through: began, ahead: [], busy: false, ...more };
}

describe("due times that come while the fleet is away", () => {
  const cases: [string, Planned["catchUp"], away: number, told: string][] = [
    ["a moment late is on time", { policy: "skip", window: day }, hour + 5 * second, "ran 1"],
    ["only the latest", { policy: "latest", window: day }, 5.5 * hour, "superseded 4, ran 1"],
    ["none", { policy: "skip", window: day }, 5.5 * hour, "not_caught_up 5"],
    ["all", { policy: "all", window: day }, 5.5 * hour, "ran 5"],
    ["all of the window", { policy: "all", window: 2 * hour }, 5.5 * hour, "too_old 3, ran 2"],
    [
      "no more than a hundred",
      { policy: "all", window: 90 * day },
      200.5 * hour,
      "too_many 100, ran 100",
    ],
    ["nothing old", { policy: "latest", window: 10 * minute }, 5.5 * hour, "too_old 5"],
    ["one on time, none late", { policy: "skip", window: day }, 5 * hour, "not_caught_up 4, ran 1"],
  ];
  test.each(cases)("%s", (_, catchUp, away, told) => {
    const verdicts = settle(planned(hourly, { catchUp }), began + away);
    const missed = verdicts.filter((one) => one.kind === "missed");
    const ran = verdicts.filter((one) => one.kind === "run").length;
    const parts = missed.map(({ reason, count }) => `${reason} ${count}`);
    expect([...parts, ...(ran ? [`ran ${ran}`] : [])].join(", ")).toBe(told);
  });

  test("are not counted one by one when there are very many", () => {
    const everySecond: Plan = { type: "cron", cron: "* * * * * *", timezone: "UTC" };
    const began = performance.now();
    const [missed] = settle(planned(everySecond), planned(everySecond).through + 300 * day);
    expect(missed).toMatchObject({ kind: "missed", count: null });
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

describe("an interval", () => {
  const every = 10 * minute;
  test("from the end waits while its run is not over, and counts from its end", () => {
    const plan: Plan = { type: "interval", every, from: "end" };
    expect(nextStart(planned(plan), began)).toBe(began + every);
    expect(nextStart(planned(plan, { busy: true }), began)).toBeUndefined();
    expect(nextStart(planned(plan, { lastEnd: began + hour }), began + hour)).toBe(
      began + hour + every,
    );
  });

  test("from the end that was missed counts from now, once", () => {
    const plan: Plan = { type: "interval", every, from: "end" };
    const now = began + 3 * day;
    const verdicts = settle(planned(plan), now);
    expect(verdicts).toMatchObject([{ kind: "missed", reason: "too_old", count: 1, through: now }]);
    expect(nextStart(planned(plan, { through: now }), now)).toBe(now + every);
  });

  test("from the start keeps its grid, however late a run was", () => {
    const plan: Plan = { type: "interval", every, from: "start" };
    const verdicts = settle(planned(plan), began + 25 * minute);
    expect(verdicts.map(({ through }) => through - began)).toEqual([10 * minute, 20 * minute]);
    expect(nextStart(planned(plan, { through: began + 20 * minute }), began)).toBe(
      began + 30 * minute,
    );
  });
});

test("a time in the gap runs at its end, a repeated one once, and one of a zone at its own hour", () => {
  const next = (text: string, timezone: string) =>
    new Date(nextStart(planned({ type: "at", at: text, timezone }), began) ?? 0).toISOString();
  expect(next("2026-03-29T02:30", "Europe/Berlin")).toBe("2026-03-29T01:00:00.000Z");
  expect(next("2026-10-25T02:30", "Europe/Berlin")).toBe("2026-10-25T00:30:00.000Z");
  expect(next("2026-12-01T09:00", "Asia/Kolkata")).toBe("2026-12-01T03:30:00.000Z");
  expect(next("2026-12-01T09:00+02:00", "Asia/Kolkata")).toBe("2026-12-01T07:00:00.000Z");
  expect(
    nextStart(planned({ type: "at", at: "2026-01-01T00:00", timezone: "UTC" }), began),
  ).toBeUndefined();
});

test("six fields count seconds, and a year is far but not lost", () => {
  const every20: Plan = { type: "cron", cron: "*/20 * * * * *", timezone: "UTC" };
  expect(upcoming(planned(every20), began, 3).map((at) => at - began)).toEqual([20e3, 40e3, 60e3]);
  const leapDay: Plan = { type: "cron", cron: "0 0 29 2 *", timezone: "UTC" };
  expect(upcoming(planned(leapDay), began, 2).map((at) => new Date(at).getUTCFullYear())).toEqual([
    2028, 2032,
  ]);
});

test("jitter spreads starts, keeps their order, and gives the same again", () => {
  const every5: Plan = { type: "cron", cron: "*/5 * * * *", timezone: "UTC" };
  const starts = (name: string) => {
    let through = began;
    return Array.from({ length: 50 }, () => {
      const one = planned(every5, { through, jitter: { within: hour, name } });
      const start = nextStart(one, began) ?? 0;
      expect(start).toBe(nextStart(one, began));
      through = upcoming(one, began, 1)[0] ?? 0;
      expect(start).toBeGreaterThanOrEqual(through);
      return start;
    });
  };
  const [one, other] = [starts("a/one"), starts("a/other")];
  expect(one).toEqual([...one].sort((a, b) => a - b));
  expect(new Set(one.map((at) => at % (5 * minute))).size).toBeGreaterThan(25);
  expect(one).not.toEqual(other);
});

/** The ledger and the fleet around it, as small as they can be. */
class World {
  now = began;
  through = began;
  lastEnd: number | undefined;
  records: Verdict[] = [];

  constructor(
    readonly plan: Plan,
    readonly catchUp: Planned["catchUp"],
    readonly jitter: number,
  ) {}

  get planned(): Planned {
    const ahead = this.records.flatMap((one) =>
      one.kind === "run" && one.due > this.through ? [one.due] : [],
    );
    const { plan, catchUp, through, lastEnd } = this;
    const jitter = this.jitter > 0 ? { within: this.jitter, name: "a/b" } : undefined;
    return { plan, catchUp, since: began, through, ahead, busy: false, lastEnd, jitter };
  }

  /** Settles what has come due; a kill leaves only the first so many records. */
  tick(killedAfter = Number.POSITIVE_INFINITY): void {
    if (wasSetBack(this.through, this.now)) this.rewind();
    for (const verdict of settle(this.planned, this.now).slice(0, killedAfter)) {
      if (verdict.kind === "run") expect(verdict.due).toBeLessThanOrEqual(this.now);
      this.records.push(verdict);
      this.through = Math.max(this.through, verdict.through);
    }
  }

  private rewind(): void {
    const isOpenAgain = (one: Verdict) => one.kind === "missed" && one.last > this.now;
    const again = this.records.filter(isOpenAgain);
    this.records = this.records.filter((one) => !isOpenAgain(one));
    const firsts = again.flatMap((one) => (one.kind === "missed" ? [one.first - 1] : []));
    this.through = Math.min(this.now, ...firsts);
  }

  /** Time goes by in a fleet that is awake: it looks at every start and never later than in 30 s. */
  live(duration: number): void {
    const end = this.now + duration;
    for (let looks = 0; looks < 400 && this.now < end; looks++) {
      const start = nextStart(this.planned, this.now) ?? end;
      const setBack = wasSetBack(this.through, this.now);
      this.now = setBack ? this.now : Math.min(end, Math.max(start, this.now + 1));
      this.tick();
    }
    this.now = end;
    this.tick();
  }
}

const plans: Plan[] = [
  hourly,
  { type: "cron", cron: "*/20 1-3 * * *", timezone: "Europe/Berlin" },
  { type: "cron", cron: "30 2 * * *", timezone: "America/New_York" },
  { type: "interval", every: 45 * minute, from: "start" },
  { type: "at", at: "2026-03-29T02:30", timezone: "Europe/Berlin" },
];

const step = fc.oneof(
  fc.record({ kind: fc.constant("live" as const), by: fc.integer({ min: 1, max: 6 * hour }) }),
  fc.record({ kind: fc.constant("away" as const), by: fc.integer({ min: 1, max: 2 * day }) }),
  fc.record({
    kind: fc.constant("jump" as const),
    by: fc.integer({ min: -2 * day, max: 3 * day }),
  }),
  fc.record({ kind: fc.constant("killed" as const), by: fc.integer({ min: 0, max: 3 }) }),
);

describe("whatever the clock and the power do", () => {
  test("no due time runs twice, none has two records, and none has none", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...plans),
        fc.constantFrom("latest" as const, "all" as const, "skip" as const),
        fc.constantFrom(10 * minute, 5 * hour, day),
        fc.constantFrom(0, 7 * minute),
        fc.array(step, { maxLength: 12 }),
        (plan, policy, window, jitter, steps) => {
          const world = new World(plan, { policy, window }, jitter);
          for (const { kind, by } of steps) {
            if (kind === "live") world.live(by);
            if (kind === "away" || kind === "jump") world.now += by;
            if (kind === "jump") world.tick();
            if (kind === "killed") world.tick(by);
          }
          world.live(30 * minute);
          expectWhole(world);
        },
      ),
      { numRuns: samples(1_000) },
    );
  }, 120_000);
});

function expectWhole({ plan, records, now, through }: World): void {
  const runs = records.flatMap((one) => (one.kind === "run" ? [one.due] : []));
  expect(new Set(runs).size).toBe(runs.length);
  const times = dueTimesOf(plan, { since: began, base: undefined });
  const spans = records.flatMap((one) => (one.kind === "missed" ? [one] : []));
  let due = times.after(began);
  for (; due !== undefined && due <= Math.min(now, through); due = times.after(due)) {
    const at = due;
    const covering = spans.filter(({ first, last }) => first <= at && at <= last).length;
    const ran = runs.includes(at) ? 1 : 0;
    expect(covering + ran, new Date(at).toISOString()).toBe(1);
  }
  const left = times.after(through);
  expect(left === undefined || left > now - 10 * minute || runs.includes(left)).toBe(true);
}
