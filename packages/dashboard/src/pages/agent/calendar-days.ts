import type { DueTimeRecord } from "@herdctl/server/contract";
import { groupBy } from "../../group-by.ts";
import type { Tone } from "../../ui/tone.ts";

export interface CalendarDay {
  /** As in the URL: `2026-02-01`, in the browser's time zone. */
  day: string;
  records: DueTimeRecord[];
  /** The shares that were missed, skipped and ran, worst first. */
  shares: { tone: Tone; share: number }[];
  summary: string;
}

const weekCount = 5;

/** The last five calendar weeks, starting on Monday, with the result of each due time. */
export function toCalendarDays(records: readonly DueTimeRecord[], now: Date): CalendarDay[] {
  const byDay = groupBy(records, ({ due_at }) => formatDay(new Date(due_at)));
  const firstDay = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  firstDay.setDate(firstDay.getDate() - ((firstDay.getDay() + 6) % 7) - (weekCount - 1) * 7);
  return Array.from({ length: weekCount * 7 }, (_, index) => {
    const date = new Date(firstDay.getFullYear(), firstDay.getMonth(), firstDay.getDate() + index);
    const dayRecords = byDay.get(formatDay(date)) ?? [];
    return {
      day: formatDay(date),
      records: dayRecords,
      shares: toShares(dayRecords),
      summary: summarize(dayRecords),
    };
  });
}

export function formatDay(date: Date): string {
  const padTwo = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${padTwo(date.getMonth() + 1)}-${padTwo(date.getDate())}`;
}

export const toneByResult: Record<DueTimeRecord["result"], Tone> = {
  ran: "ok",
  skipped: "idle",
  missed: "bad",
};

const worstFirst = ["missed", "skipped", "ran"] as const;

function toShares(records: DueTimeRecord[]): CalendarDay["shares"] {
  const total = countDueTimes(records);
  return worstFirst
    .map((result) => {
      const share = countDueTimes(records.filter((record) => record.result === result)) / total;
      return { tone: toneByResult[result], share };
    })
    .filter(({ share }) => share > 0);
}

function summarize(records: DueTimeRecord[]): string {
  if (records.length === 0) return "No due times";
  const counts = [...groupBy(records, ({ result }) => result)];
  return counts.map(([result, dayRecords]) => `${countDueTimes(dayRecords)} ${result}`).join(", ");
}

function countDueTimes(records: DueTimeRecord[]): number {
  return records.reduce((sum, { count }) => sum + (count ?? 1), 0);
}
