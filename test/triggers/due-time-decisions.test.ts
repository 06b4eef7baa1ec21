import { beforeEach, describe, expect, test } from "vitest";
import {
  actionsFor,
  batchActions,
  candidateFor,
  type DueAction,
  maxBatchSize,
} from "../../packages/core/src/triggers/schedules/due-actions.ts";
import {
  type ScheduleEntry,
  scheduleEntries,
} from "../../packages/core/src/triggers/schedules/schedule-entries.ts";
import {
  isSamePlan,
  type SchedulePlan,
  schedulePlanOf,
} from "../../packages/core/src/triggers/schedules/schedule-plan.ts";
import {
  abandonDueTimes,
  type DueDecision,
  nextStartTime,
  type ScheduleState,
  settleDueTimes,
  upcomingDueTimes,
} from "../../packages/core/src/triggers/schedules/settle-due-times.ts";
import { fleetHeader, loadTestFleet } from "../support/fleet-config.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const began = Date.UTC(2026, 2, 27, 12);
const hourly: SchedulePlan = { type: "cron", cron: "0 * * * *", timezone: "UTC" };
const minutely: SchedulePlan = { type: "cron", cron: "* * * * *", timezone: "UTC" };
const once: SchedulePlan = { type: "at", at: "2026-03-27T13:00Z", timezone: "UTC" };
const afterEnd: SchedulePlan = { type: "interval", every: 10 * minuteMs, from: "end" };

function stateOf(plan: SchedulePlan, more: Partial<ScheduleState> = {}): ScheduleState {
  return {
    plan,
    catchUp: { policy: "latest", windowMs: dayMs },
    firstInForceAt: began,
    settledThrough: began,
    settledAhead: [],
    isRunning: false,
    ...more,
  };
}

/** Decisions with hours since the beginning, such as `superseded 1-4`. */
function shown(decisions: readonly DueDecision[]): string[] {
  const hours = (time: number) => (time - began) / hourMs;
  return decisions.map((one) =>
    one.kind === "run"
      ? `run ${hours(one.due)}${one.isCatchUp ? " late" : ""}`
      : `${one.reason} ${hours(one.first)}-${hours(one.last)}`,
  );
}

describe("due times", () => {
  const at = (hours: number, more: Partial<ScheduleState> = {}, plan: SchedulePlan = hourly) =>
    shown(settleDueTimes(stateOf(plan, more), began + hours * hourMs));

  test("are settled once", () => {
    expect(at(0.5)).toEqual([]);
    expect(at(1)).toEqual(["run 1"]);
    expect(at(1, { settledThrough: began + hourMs })).toEqual([]);
    expect(at(0.5, {}, once)).toEqual([]);
    expect(at(1, {}, once)).toEqual(["run 1"]);
  });

  test("are on time for a minute", () => {
    const catchUp = { policy: "skip" as const, windowMs: dayMs };
    expect(at(1 + 1 / 60, { catchUp })).toEqual(["run 1"]);
    expect(at(1 + 1 / 60 + 1e-6, { catchUp })).toEqual(["not_caught_up 1-1"]);
    expect(at(1 + 1 / 60 + 1e-6)).toEqual(["run 1 late"]);
  });

  test("are caught up to the edge of the window", () => {
    const window = (policy: "all" | "latest") => ({ catchUp: { policy, windowMs: 3 * hourMs } });
    expect(at(5, window("all"))).toEqual([
      "too_old 1-1",
      "run 2 late",
      "run 3 late",
      "run 4 late",
      "run 5",
    ]);
    expect(at(5, window("latest"))).toEqual(["too_old 1-1", "superseded 2-4", "run 5"]);
  });

  test("that are settled ahead are neither run nor recorded again", () => {
    const settledAhead = [5, 2].map((hours) => began + hours * hourMs);
    const catchUp = { policy: "skip" as const, windowMs: dayMs };
    expect(at(6.5, { settledAhead, catchUp })).toEqual([
      "not_caught_up 1-1",
      "not_caught_up 3-4",
      "not_caught_up 6-6",
    ]);
    expect(at(6, { settledAhead, catchUp: { policy: "all", windowMs: dayMs } })).toEqual([
      "run 1 late",
      "run 3 late",
      "run 4 late",
      "run 6",
    ]);
    const ahead = stateOf(hourly, { settledAhead: [began + hourMs] });
    expect(nextStartTime(ahead, began)).toBe(began + 2 * hourMs);
  });

  test("start only after their jitter", () => {
    const state = stateOf(hourly, { jitter: { maxDelayMs: 30 * minuteMs, name: "a/b" } });
    const start = nextStartTime(state, began) ?? 0;
    expect(start).toBeGreaterThan(began + hourMs);
    expect(start).toBeLessThan(began + 1.5 * hourMs);
    expect(settleDueTimes(state, start - 1)).toEqual([]);
    expect(shown(settleDueTimes(state, start))).toEqual(["run 1"]);
    const running = stateOf(afterEnd, { isRunning: true, jitter: state.jitter });
    expect(nextStartTime(running, began)).toBeUndefined();
  });

  test("of a plan that is no longer in force are recorded up to now", () => {
    const abandoned = (plan: SchedulePlan, hours: number) =>
      shown(abandonDueTimes(stateOf(plan), "already_past", began + hours * hourMs));
    expect(abandoned(hourly, 3)).toEqual(["already_past 1-3"]);
    expect(abandoned(hourly, 0.5)).toEqual([]);
    expect(abandoned(once, 0.5)).toEqual([]);
    expect(abandoned(once, 1)).toEqual(["already_past 1-1"]);
  });

  test("are counted up to a thousand, and without limit for a fixed interval", () => {
    const count = (plan: SchedulePlan, minutes: number) =>
      abandonDueTimes(stateOf(plan), "already_past", began + minutes * minuteMs).map((one) =>
        one.kind === "missed" ? one.count : "run",
      );
    expect(count(minutely, 1)).toEqual([1]);
    expect(count(minutely, 1_000)).toEqual([1_000]);
    expect(count(minutely, 1_001)).toEqual([null]);
    const interval: SchedulePlan = { type: "interval", every: minuteMs, from: "start" };
    expect(count(interval, 1)).toEqual([1]);
    expect(count(interval, 5_000)).toEqual([5_000]);
  });

  test("of an interval ignore an end that lies in the future", () => {
    const next = (lastEndMs?: number) => nextStartTime(stateOf(afterEnd, { lastEndMs }), began);
    expect(next()).toBe(began + 10 * minuteMs);
    expect(next(began + hourMs)).toBe(began + 10 * minuteMs);
    expect(next(began)).toBe(began + 10 * minuteMs);
    const later = stateOf(afterEnd, { lastEndMs: began + minuteMs });
    expect(nextStartTime(later, began + minuteMs)).toBe(began + 11 * minuteMs);
  });

  test("are listed in advance, as many as there are", () => {
    expect(upcomingDueTimes(stateOf(once), began, 3)).toEqual([began + hourMs]);
    expect(upcomingDueTimes(stateOf(hourly), began, 2)).toEqual([
      began + hourMs,
      began + 2 * hourMs,
    ]);
  });
});

const yaml = `${fleetHeader}agents:
  - name: one
    schedules:
      tick: { type: interval, every: 10m, prompt: p }
      nightly: { type: cron, cron: "@daily", prompt: p, catch_up: all }
      local: { type: cron, cron: "0 9 * * *", timezone: Asia/Kolkata, prompt: p }
      launch: { type: at, at: "2030-01-01T00:00", prompt: p }
      gated: { type: cron, cron: "@daily", prompt: p, gate: { command: "true" } }
  - name: two
    schedules:
      tick: { type: interval, every: 10m, prompt: p }
`;

function entries(): Map<string, ScheduleEntry> {
  const { fleet } = loadTestFleet({ "herdctl.yaml": yaml });
  return new Map(
    scheduleEntries(fleet, []).map((entry) => [`${entry.agent}/${entry.schedule}`, entry]),
  );
}

function entry(name: string): ScheduleEntry {
  return entries().get(name) ?? expect.fail(`there is no schedule ${name}`);
}

const run = (due: number, isCatchUp = false): DueDecision => ({
  ...{ kind: "run", due, settledThrough: due + 1, isCatchUp },
});
const missed = (first: number, last: number): DueDecision => ({
  ...{ kind: "missed", first, last, count: 2, settledThrough: last, reason: "superseded" },
});
const iso = (time: number) => new Date(time).toISOString();

describe("plan of a schedule", () => {
  test("has what decides when it comes due", () => {
    const plan = (name: string, timezone?: string) => schedulePlanOf(entry(name).config, timezone);
    expect(plan("one/tick")).toEqual({ type: "interval", every: 10 * minuteMs, from: "end" });
    expect(plan("one/local", "UTC")).toEqual({
      ...{ type: "cron", cron: "0 9 * * *", timezone: "Asia/Kolkata" },
    });
    expect(plan("one/nightly", "Europe/Berlin")).toMatchObject({ timezone: "Europe/Berlin" });
    expect(plan("one/nightly")).toMatchObject({
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    });
    expect(plan("one/launch", "UTC")).toEqual({
      ...{ type: "at", at: "2030-01-01T00:00", timezone: "UTC" },
    });
  });

  test("is the same plan only with the same settings, whatever their order", () => {
    const reordered: SchedulePlan = { timezone: "UTC", cron: "0 * * * *", type: "cron" };
    expect(isSamePlan(hourly, reordered)).toBe(true);
    expect(isSamePlan(hourly, { ...hourly, timezone: "Europe/Berlin" })).toBe(false);
    expect(isSamePlan(once, { ...once, at: "2030-01-01T00:00" })).toBe(false);
    expect(isSamePlan(afterEnd, { ...afterEnd, from: "start" })).toBe(false);
    expect(isSamePlan(afterEnd, { ...afterEnd })).toBe(true);
  });
});

describe("actions for due times", () => {
  let one: ScheduleEntry;
  let two: ScheduleEntry;
  beforeEach(() => {
    [one, two] = [entry("one/tick"), entry("two/tick")];
  });
  const nobody = new Set<string>();

  test("are ordered by due time, and by the configuration for equal ones", () => {
    const settled = [
      { entry: one, decisions: [missed(1, 4), run(5)] },
      { entry: two, decisions: [run(3), run(5)] },
    ];
    const order = actionsFor(settled, nobody).map(
      (action) => `${action.kind} ${action.entry.agent}`,
    );
    expect(order).toEqual(["run two", "record one", "run one", "run two"]);
  });

  test("run a due time, or record it as missed", () => {
    const settled = [{ entry: one, decisions: [missed(1_000, 2_000), run(5_000, true)] }];
    expect(actionsFor(settled, nobody)).toEqual([
      {
        kind: "record",
        entry: one,
        through: iso(2_000),
        record: {
          agent: "one",
          schedule: "tick",
          due_at: iso(1_000),
          last_due_at: iso(2_000),
          count: 2,
          result: "missed",
          reason: "superseded",
          through: iso(2_000),
        },
      },
      { kind: "run", entry: one, through: iso(5_001), due: 5_000, isCatchUp: true },
    ]);
  });

  test("skip the due times of a paused agent", () => {
    const settled = [
      { entry: one, decisions: [run(5_000)] },
      { entry: two, decisions: [run(6_000)] },
    ];
    expect(actionsFor(settled, new Set(["one"]))).toMatchObject([
      {
        kind: "record",
        through: iso(5_001),
        record: {
          agent: "one",
          schedule: "tick",
          due_at: iso(5_000),
          last_due_at: iso(5_000),
          count: 1,
          result: "skipped",
          reason: "paused",
          through: iso(5_001),
        },
      },
      { kind: "run", due: 6_000 },
    ]);
  });

  test("share a batch with neighbours of the same kind, up to a limit; gated runs are alone", () => {
    const kinds = (decisions: readonly [ScheduleEntry, DueDecision][]) =>
      batchActions(
        decisions.flatMap(([entry, decision]) =>
          actionsFor([{ entry, decisions: [decision] }], nobody),
        ),
      ).map((batch: DueAction[]) => `${batch[0]?.kind} ${batch.length}`);
    const gated = entry("one/gated");
    expect(kinds([])).toEqual([]);
    expect(
      kinds([
        [one, run(1)],
        [two, run(2)],
        [one, missed(3, 3)],
        [two, missed(4, 4)],
        [one, run(5)],
        [gated, run(6)],
        [gated, run(7)],
        [one, run(8)],
        [gated, missed(9, 9)],
        [one, missed(10, 10)],
      ]),
    ).toEqual(["run 2", "record 2", "run 1", "run 1", "run 1", "run 1", "record 2"]);
    const many = Array.from({ length: maxBatchSize + 1 }, (_, at): [ScheduleEntry, DueDecision] => [
      one,
      run(at),
    ]);
    expect(maxBatchSize).toBe(50);
    expect(kinds(many)).toEqual([`run ${maxBatchSize}`, "run 1"]);
  });

  test("request a job with a key of the due time", () => {
    const request = (name: string, isCatchUp: boolean) =>
      candidateFor({ kind: "run", entry: entry(name), due: 0, through: iso(1), isCatchUp });
    expect(request("one/tick", true)).toEqual({
      request: {
        trigger: "interval",
        agent: "one",
        schedule: "tick",
        key: expect.stringMatching(/^due .*one.*tick.* 1970-01-01T00:00:00\.000Z$/),
      },
      due: { due_at: iso(0), through: iso(1) },
    });
    expect(request("one/nightly", true)).toMatchObject({ overlap: "allow" });
    expect(request("one/nightly", false)).not.toHaveProperty("overlap");
  });
});
