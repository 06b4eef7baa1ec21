import type { ScheduleView } from "@herdctl/core";
import { dueReason } from "./due-reason.ts";
import { harmlessAll } from "./harmless.ts";
import type { Look } from "./look.ts";
import { type Column, tableLines } from "./table.ts";
import { clockText } from "./wait-text.ts";

/** One line a schedule, with as many of its next due times as there is room for. */
export function scheduleTable(schedules: ScheduleView[], now: Date, look: Look): string[] {
  const { bold, dim, yellow } = look.colors;
  const columns: Column<ScheduleView>[] = [
    { title: "AGENT", text: ({ agent }) => agent, paint: () => bold },
    { title: "SCHEDULE", text: ({ schedule }) => schedule },
    { title: "WHEN", text: whenText, paint: () => dim },
    ...(schedules.some(byText)
      ? [{ title: "BY", spare: true as const, text: byText, paint: () => dim }]
      : []),
    {
      title: "LAST",
      spare: true,
      text: ({ last }) => (last ? `${lastWord(last)} ${clockText(last.due_at, now)}` : ""),
      paint: ({ last }) => (last && last.result !== "ran" ? yellow : dim),
    },
    {
      title: "NEXT",
      text: (view) => nextText(view, now),
      paint: ({ enabled }) => (enabled ? (text) => text : yellow),
    },
  ];
  return tableLines(columns, harmlessAll(schedules), look);
}

function whenText({ when, timezone }: ScheduleView): string {
  return timezone === null ? when : `${when} ${timezone}`;
}

/** Whose word it is, where it is not the configuration's. */
function byText({ planned_by, changed }: ScheduleView): string {
  return planned_by ?? (changed ? "changed" : "");
}

function lastWord(last: NonNullable<ScheduleView["last"]>): string {
  return last.result === "ran" ? "ran" : `${last.result} (${dueReason(last)})`;
}

function nextText({ enabled, next, type }: ScheduleView, now: Date): string {
  if (!enabled) return "off";
  if (next.length === 0) return withoutTime[type];
  return next.map((time) => clockText(time, now)).join(", ");
}

/** What is said of a schedule that is on and knows no next time. */
const withoutTime: Record<ScheduleView["type"], string> = {
  interval: "when its run is over",
  cron: "never again",
  at: "never again",
  webhook: "when delivered",
};
