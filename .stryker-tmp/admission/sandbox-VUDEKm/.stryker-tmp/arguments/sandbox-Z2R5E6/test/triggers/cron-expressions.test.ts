import { describe, expect, test } from "vitest";
import { createDueTimes } from "../../packages/core/src/triggers/schedules/due-times.ts";
import { testSubset } from "../support/test-subset.ts";
import { WallClockIndex, wallTimesOfCron } from "./wall-clock-index.ts";

/** The most unusual zones first. */
const zones = [
  ...["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"],
  ...["America/St_Johns", "Europe/London", "America/Los_Angeles", "America/Sao_Paulo"],
  ...["Asia/Tokyo", "Asia/Kolkata", "Pacific/Auckland"],
];

/** Rare enough to compare all due times of five years. */
const rareCrons = [
  ...["@daily", "@weekly", "@monthly", "@yearly", "30 2 * * *", "0 1 * * 0", "59 23 31 12 *"],
  ...["0 9 * * 1-5", "15 3 * * SUN", "0 0 29 2 *", "0 12 1,15 * *", "45 1 * MAR,OCT,NOV *"],
  ...["0 0 13 * 5", "0 6 * JAN-MAR MON", "30 1 1-7 * *", "5 4 * * 7", "0 22 * * 1-5/2"],
  ...["20 14 10 */2 *", "0 3 * 3 SUN", "59 1 * 11 0", "0 2 25-31 3,10 *", "1 2 * 4 *"],
  ...["0 0 1 1,4,7,10 *", "10 10 31 * *", "0 17 * * FRI", "30 0 * 9,10 SAT,SUN"],
  ...["0 23 28 2 *", "15 15 15 6 *", "0 5 * * MON", "40 2 8-14 3 0"],
];

/** Too frequent for that: compares the days around each change of the clock. */
const frequentCrons = [
  ...["*/15 * * * *", "0 * * * *", "@hourly", "*/30 1-3 * * *", "0 */2 * * *"],
  ...["10,50 2 * * *", "7 0-6 * * *", "*/20 * * 3,10 *", "0 0,12 * * *", "5 1,2,3 * * *"],
];

const dayMs = 86_400_000;
const from = Date.UTC(2024, 0, 1);
const to = Date.UTC(2029, 0, 1);

describe("forty expressions over five years match an independent clock", () => {
  test.each(testSubset(zones, 6))("%s", (timezone) => {
    const watcher = new WallClockIndex(timezone, from, to);
    for (const cron of rareCrons) compare(cron, timezone, watcher, from, to);
    const changes = watcher.changes.length > 0 ? watcher.changes : [Date.UTC(2026, 0, 1)];
    for (const at of changes) {
      for (const cron of frequentCrons) compare(cron, timezone, watcher, at - dayMs, at + dayMs);
    }
  });

  test("covers forty expressions", () => {
    expect(new Set([...rareCrons, ...frequentCrons]).size).toBe(40);
  });
});

const wallTimesByCron = new Map(
  [...rareCrons, ...frequentCrons].map((cron) => [
    cron,
    wallTimesOfCron(cron, from - dayMs, to + dayMs),
  ]),
);

/** Iterates forwards, and at some points backwards. */
function compare(
  cron: string,
  timezone: string,
  watcher: WallClockIndex,
  start: number,
  end: number,
): void {
  const wanted = (wallTimesByCron.get(cron) ?? []).filter(
    (wall) => wall > start - dayMs && wall < end + dayMs,
  );
  const seen = watcher.instantsOf(wanted).filter((at) => at > start && at <= end);
  const times = createDueTimes(
    { type: "cron", cron, timezone },
    { firstInForceAt: 0, countsFrom: undefined },
  );
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
