import { expect, test } from "vitest";
import { matching, stateOf } from "../../packages/dashboard/src/pages/fleet/agent-state.ts";
import { parseFleetSearch } from "../../packages/dashboard/src/pages/fleet/search.ts";
import {
  marksOf,
  summaryOf,
  ticksOf,
} from "../../packages/dashboard/src/pages/fleet/strip-marks.ts";
import { agoWords, durationWords, moneyWords } from "../../packages/dashboard/src/ui/quantities.ts";

type Entry = Parameters<typeof marksOf>[0][number];

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const time = (minute: number) => Date.parse(at(minute));

function job(from: number, to: number | null, more: Partial<Entry> = {}): Entry {
  return {
    id: `job-${from}`,
    agent: "fixer",
    schedule: null,
    trigger_type: "manual",
    status: to === null ? "running" : "completed",
    outcome: to === null ? null : "success",
    cost_usd: null,
    created_at: at(from),
    started_at: at(from),
    finished_at: to === null ? null : at(to),
    duration_seconds: null,
    ...more,
  };
}

test("a strip places jobs by their time, cuts what began before it and leaves out what ended before it", () => {
  const jobs = [job(50, null), job(30, 40), job(-20, 6), job(-30, -10)];
  const marks = marksOf(jobs, time(0), time(60));
  expect(marks.map(({ job, from, to }) => [job.id, from, to])).toEqual([
    ["job--20", 0, 0.1],
    ["job-30", 0.5, 40 / 60],
    ["job-50", 50 / 60, 1],
  ]);
  expect(summaryOf(marks)).toBe("3 jobs: 2 completed, 1 running");
  expect(summaryOf([])).toBe("nothing ran");
});

test("a job that was skipped, or has not begun, is a point where it was accepted", () => {
  const skipped = job(30, 30, { status: "skipped", outcome: "overlap", started_at: null });
  const pending = job(40, null, { status: "pending", started_at: null });
  const marks = marksOf([pending, skipped], time(0), time(60));
  expect(marks.map(({ from, to, tone }) => [from, to, tone])).toEqual([
    [0.5, 0.5, "idle"],
    [40 / 60, 40 / 60, "idle"],
  ]);
});

test("lines on a strip stand at whole quarters of an hour, hours or four hours", () => {
  const minutes = (ticks: number[]) => ticks.map((tick) => (tick - time(0)) / 60_000);
  expect(minutes(ticksOf(time(5), time(65)))).toEqual([15, 30, 45, 60]);
  expect(minutes(ticksOf(time(-300), time(59)))).toEqual([-300, -240, -180, -120, -60, 0]);
});

const idle = {
  name: "fixer",
  description: "Fixes things",
  runtime: "sdk" as const,
  docker: false,
  paused: null,
  pending: 0,
  waiting: 0,
  running: [],
  schedules: [],
  last_job: null,
  next_due: null,
  cost_today_usd: 0,
};
const run = { job_id: "job-1", started_at: at(0), doing: "speaking" };

test("the word for an agent is what concerns a person most", () => {
  expect(stateOf(idle).word).toBe("idle");
  expect(stateOf({ ...idle, pending: 2 }).word).toBe("queued");
  expect(stateOf({ ...idle, running: [run] }).word).toBe("running");
  expect(stateOf({ ...idle, running: [run], waiting: 1 }).word).toBe("waiting");
  expect(stateOf({ ...idle, paused: { reason: "by hand", since: at(0) }, pending: 1 }).word).toBe(
    "paused",
  );
});

test("agents are found by a part of their name or description, and by what is the matter", () => {
  const failed = {
    ...idle,
    name: "Other",
    last_job: { id: "1", outcome: "timeout", finished_at: null },
  };
  const names = (search: Parameters<typeof matching>[1]) =>
    matching([idle, failed], search).map(({ name }) => name);
  expect(names({})).toEqual(["fixer", "Other"]);
  expect(names({ q: "oth" })).toEqual(["Other"]);
  expect(names({ q: "THINGS", show: "failed" })).toEqual(["Other"]);
  expect(names({ show: "failed" })).toEqual(["Other"]);
  expect(names({ show: "running" })).toEqual([]);
});

test("an address with nonsense in it is one without", () => {
  expect(parseFleetSearch({ q: 5, show: "all", hours: "6" })).toEqual({});
  expect(parseFleetSearch({ q: "fix", show: "failed", hours: 24 })).toEqual({
    q: "fix",
    show: "failed",
    hours: 24,
  });
});

test.each([
  [0.85, "850 ms"],
  [9.96, "9.9 s"],
  [59.9, "59 s"],
  [60, "1 min"],
  [185, "3 min 5 s"],
  [7_800, "2 h 10 min"],
  [90_000, "1 d 1 h"],
])("%d seconds are %s", (seconds, words) => {
  expect(durationWords(seconds)).toBe(words);
});

test("times are told by the largest unit, money by as many digits as it takes", () => {
  expect(agoWords(time(0), time(0) + 2_000)).toBe("now");
  expect(agoWords(time(0), time(59))).toBe("59 min ago");
  expect(agoWords(time(120), time(0))).toBe("in 2 h");
  expect([0, 0.00001, 0.0042, 1234.5].map(moneyWords)).toEqual([
    "$0",
    "<$0.0001",
    "$0.0042",
    "$1,234.50",
  ]);
});
