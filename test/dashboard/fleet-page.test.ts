import { expect, test } from "vitest";
import { toAgentState } from "../../packages/dashboard/src/pages/fleet/agent-state.ts";
import {
  arrangeAgents,
  filterAgents,
} from "../../packages/dashboard/src/pages/fleet/arrange-agents.ts";
import { parseFleetSearch } from "../../packages/dashboard/src/pages/fleet/search-params.ts";
import {
  hourTicks,
  summarizeMarks,
  toMarks,
} from "../../packages/dashboard/src/pages/fleet/timeline-marks.ts";
import {
  formatAgo,
  formatDuration,
  formatMoney,
  formatMoneyAxis,
} from "../../packages/dashboard/src/ui/format-quantities.ts";

type Entry = Parameters<typeof toMarks>[0][number];

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

test("places jobs on a strip by time, cuts those that began before it and omits those that ended before it", () => {
  const jobs = [job(50, null), job(30, 40), job(-20, 6), job(-30, -10)];
  const marks = toMarks(jobs, time(0), time(60));
  expect(marks.map(({ job, from, to }) => [job.id, from, to])).toEqual([
    ["job--20", 0, 0.1],
    ["job-30", 0.5, 40 / 60],
    ["job-50", 50 / 60, 1],
  ]);
  expect(summarizeMarks(marks)).toBe("3 jobs: 2 completed, 1 running");
  expect(summarizeMarks([])).toBe("no jobs");
});

test("shows a pending job as a point at the time of its admission, and no skipped job", () => {
  const skipped = job(30, 30, { status: "skipped", outcome: "overlap", started_at: null });
  const pending = job(40, null, { status: "pending", started_at: null });
  const marks = toMarks([pending, skipped], time(0), time(60));
  expect(marks.map(({ from, to, tone }) => [from, to, tone])).toEqual([[40 / 60, 40 / 60, "idle"]]);
});

test("places the lines of a strip at whole quarters of an hour, hours or four hours", () => {
  const minutes = (ticks: number[]) => ticks.map((tick) => (tick - time(0)) / 60_000);
  expect(minutes(hourTicks(time(5), time(65)))).toEqual([15, 30, 45, 60]);
  expect(minutes(hourTicks(time(-300), time(59)))).toEqual([-300, -240, -180, -120, -60, 0]);
});

const idle = {
  name: "fixer",
  description: "Fixes things",
  labels: [],
  runtime: "sdk" as const,
  docker: false,
  paused: null,
  pending: 0,
  waiting: 0,
  max_concurrent: 1,
  running: [],
  schedules: [],
  last_job: null,
  next_due: null,
  cost_today_usd: 0,
};
const run = { job_id: "job-1", started_at: at(0), activity: "speaking" };

test("shows the most important status of an agent", () => {
  expect(toAgentState(idle).label).toBe("idle");
  expect(toAgentState({ ...idle, pending: 2 }).label).toBe("queued");
  expect(toAgentState({ ...idle, running: [run] }).label).toBe("running");
  expect(toAgentState({ ...idle, running: [run], waiting: 1 }).label).toBe("waiting");
  expect(
    toAgentState({ ...idle, paused: { reason: "by hand", since: at(0) }, pending: 1 }).label,
  ).toBe("paused");
});

test("finds agents by a part of their name or description and by status", () => {
  const failed = {
    ...idle,
    name: "Other",
    last_job: { id: "1", outcome: "timeout", finished_at: null },
  };
  const names = (search: Parameters<typeof filterAgents>[1]) =>
    filterAgents([idle, failed], search).map(({ name }) => name);
  expect(names({})).toEqual(["fixer", "Other"]);
  expect(names({ q: "oth" })).toEqual(["Other"]);
  expect(names({ q: "THINGS", show: "failed" })).toEqual(["Other"]);
  expect(names({ show: "failed" })).toEqual(["Other"]);
  expect(names({ show: "running" })).toEqual([]);
});

test("sorts agents by what people look for, and groups them by fleet or label", () => {
  const agents = [
    { ...idle, name: "b", labels: ["web"], cost_today_usd: 1 },
    { ...idle, name: "shop.c", labels: ["web", "night"], running: [run], cost_today_usd: 3 },
    { ...idle, name: "shop.a", next_due: { schedule: "hourly", due_at: at(5) } },
  ];
  const view = (search: Parameters<typeof arrangeAgents>[1]) =>
    arrangeAgents(agents, search).map(({ title, agents: found }) => [
      title,
      ...found.map(({ name }) => name),
    ]);
  expect(view({})).toEqual([[null, "b", "shop.c", "shop.a"]]);
  expect(view({ sort: "name" })).toEqual([[null, "b", "shop.a", "shop.c"]]);
  expect(view({ sort: "state" })[0]?.[1]).toBe("shop.c");
  expect(view({ sort: "next" })[0]?.[1]).toBe("shop.a");
  expect(view({ sort: "cost", group: "fleet" })).toEqual([
    ["shop", "shop.c", "shop.a"],
    ["This fleet", "b"],
  ]);
  expect(view({ group: "label" })).toEqual([
    ["night", "shop.c"],
    ["No label", "shop.a"],
    ["web", "b", "shop.c"],
  ]);
  expect(view({ q: "night" })).toEqual([[null, "shop.c"]]);
});

test("ignores invalid parameters of an address", () => {
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
])("formats %d seconds as %s", (seconds, words) => {
  expect(formatDuration(seconds)).toBe(words);
});

test("formats times by the largest unit, and money with as many digits as needed", () => {
  expect(formatAgo(time(0), time(0) + 2_000)).toBe("now");
  expect(formatAgo(time(0), time(59))).toBe("59 minutes ago");
  expect(formatAgo(time(120), time(0))).toBe("in 2 hours");
  expect(formatMoneyAxis([0, 0.005, 0.01, 0.015])).toEqual(["$0", "$0.005", "$0.010", "$0.015"]);
  expect(formatMoneyAxis([0, 0.5, 1])).toEqual(["$0", "$0.50", "$1.00"]);
  expect(formatMoneyAxis([0, 20, 40])).toEqual(["$0", "$20", "$40"]);
  expect([0, 0.00001, 0.0042, 1234.5].map(formatMoney)).toEqual([
    "$0",
    "<$0.0001",
    "$0.0042",
    "$1,234.50",
  ]);
});
