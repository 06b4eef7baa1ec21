import type { ScheduleView } from "@herdctl/protocol";
import { dueReasonText } from "./due-time-reason.ts";
import { sanitizeDeep } from "./sanitize-text.ts";
import { type Column, tableLines } from "./table.ts";
import type { TerminalStyle } from "./terminal-style.ts";
import { formatTime } from "./wait-text.ts";

/** One line per schedule, with as many of its next due times as fit. */
export function scheduleTableLines(
  schedules: ScheduleView[],
  now: Date,
  style: TerminalStyle,
): string[] {
  const { bold, dim, yellow } = style.colors;
  const columns: Column<ScheduleView>[] = [
    { title: "AGENT", text: ({ agent }) => agent, color: () => bold },
    { title: "SCHEDULE", text: ({ schedule }) => schedule },
    { title: "WHEN", text: whenText, color: () => dim },
    ...(schedules.some(originText)
      ? [{ title: "BY", hideIfNarrow: true as const, text: originText, color: () => dim }]
      : []),
    {
      title: "LAST",
      hideIfNarrow: true,
      text: ({ last }) => (last ? `${lastRunText(last)} ${formatTime(last.due_at, now)}` : ""),
      color: ({ last }) => (last && last.result !== "ran" ? yellow : dim),
    },
    {
      title: "NEXT",
      text: (view) => nextText(view, now),
      color: ({ enabled }) => (enabled ? (text) => text : yellow),
    },
  ];
  return tableLines(columns, sanitizeDeep(schedules), style);
}

function whenText({ when, timezone }: ScheduleView): string {
  return timezone === null ? when : `${when} ${timezone}`;
}

/** The origin of a schedule that an agent added or changed; empty for configured ones. */
function originText({ scheduled_by, interval_changed }: ScheduleView): string {
  return scheduled_by ?? (interval_changed ? "changed" : "");
}

function lastRunText(last: NonNullable<ScheduleView["last"]>): string {
  return last.result === "ran" ? "ran" : `${last.result} (${dueReasonText(last)})`;
}

function nextText({ enabled, next, type }: ScheduleView, now: Date): string {
  if (!enabled) return "disabled";
  if (next.length === 0) return noNextTimeTexts[type];
  return next.map((time) => formatTime(time, now)).join(", ");
}

/** For enabled schedules without a known next time. */
const noNextTimeTexts: Record<ScheduleView["type"], string> = {
  interval: "after the current run",
  cron: "never again",
  at: "never again",
  webhook: "on delivery",
};
