import { describe, expect, test } from "vitest";
import { dueTimesOf } from "../../packages/core/src/triggers/schedule/due-times.ts";
import { sliceOf } from "../support/width.ts";
import { ClockWatcher, wallTimesOf } from "./clock-oracle.ts";

/** The oddest first. */
const zones = [
  ...["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"],
  ...["America/St_Johns", "Europe/London", "America/Los_Angeles", "America/Sao_Paulo"],
  ...["Asia/Tokyo", "Asia/Kolkata", "Pacific/Auckland"],
];

/** Few enough due times to look at all of five years. */
const seldom = [
  ...["@daily", "@weekly", "@monthly", "@yearly", "30 2 * * *", "0 1 * * 0", "59 23 31 12 *"],
  ...["0 9 * * 1-5", "15 3 * * SUN", "0 0 29 2 *", "0 12 1,15 * *", "45 1 * MAR,OCT,NOV *"],
  ...["0 0 13 * 5", "0 6 * JAN-MAR MON", "30 1 1-7 * *", "5 4 * * 7", "0 22 * * 1-5/2"],
  ...["20 14 10 */2 *", "0 3 * 3 SUN", "59 1 * 11 0", "0 2 25-31 3,10 *", "1 2 * 4 *"],
  ...["0 0 1 1,4,7,10 *", "10 10 31 * *", "0 17 * * FRI", "30 0 * 9,10 SAT,SUN"],
  ...["0 23 28 2 *", "15 15 15 6 *", "0 5 * * MON", "40 2 8-14 3 0"],
];

/** Too many for that: the days around each change of the clock. */
const often = [
  ...["*/15 * * * *", "0 * * * *", "@hourly", "*/30 1-3 * * *", "0 */2 * * *"],
  ...["10,50 2 * * *", "7 0-6 * * *", "*/20 * * 3,10 *", "0 0,12 * * *", "5 1,2,3 * * *"],
];

const day = 86_400_000;
const from = Date.UTC(2024, 0, 1);
const to = Date.UTC(2029, 0, 1);

describe("forty expressions over five years agree with whoever watches the clock, in", () => {
  test.each(sliceOf(zones, 6))("%s", (timezone) => {
    const watcher = new ClockWatcher(timezone, from, to);
    for (const cron of seldom) compare(cron, timezone, watcher, from, to);
    const changes = watcher.changes.length > 0 ? watcher.changes : [Date.UTC(2026, 0, 1)];
    for (const at of changes) {
      for (const cron of often) compare(cron, timezone, watcher, at - day, at + day);
    }
  });

  test("which are forty", () => {
    expect(new Set([...seldom, ...often]).size).toBe(40);
  });
});

const walls = new Map(
  [...seldom, ...often].map((cron) => [cron, wallTimesOf(cron, from - day, to + day)]),
);

/** Ours are walked forwards, and here and there backwards. */
function compare(
  cron: string,
  timezone: string,
  watcher: ClockWatcher,
  start: number,
  end: number,
): void {
  const wanted = (walls.get(cron) ?? []).filter((wall) => wall > start - day && wall < end + day);
  const seen = watcher.momentsOf(wanted).filter((at) => at > start && at <= end);
  const times = dueTimesOf({ type: "cron", cron, timezone }, { since: 0, base: undefined });
  const forwards: number[] = [];
  let due = times.after(start);
  for (; due !== undefined && due <= end; due = times.after(due)) forwards.push(due);
  const where = `${cron} in ${timezone}`;
  expect(forwards.map(iso), where).toEqual(seen.map(iso));
  for (const at of [forwards.length, Math.ceil(forwards.length / 2), 1]) {
    const before = at === forwards.length ? end + 1 : forwards[at];
    if (before !== undefined && at > 0) expect(times.before(before), where).toBe(forwards[at - 1]);
  }
}

function iso(moment: number): string {
  return new Date(moment).toISOString();
}
