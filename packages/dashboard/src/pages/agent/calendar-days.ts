import type { DueRecord } from "@herdctl/server/contract";
import { grouped } from "../../grouped.ts";
import type { Tone } from "../../ui/tone.ts";

export interface CalendarDay {
  /** As in the address: `2026-02-01`, in the browser's time zone. */
  day: string;
  records: DueRecord[];
  /** How much of it ran, was skipped or missed, the worst first. */
  shares: { tone: Tone; share: number }[];
  words: string;
}

const weeks = 5;

/** The last weeks, whole ones from Monday on, with what became of each due time. */
export function calendarOf(records: readonly DueRecord[], now: Date): CalendarDay[] {
  const byDay = grouped(records, ({ due_at }) => dayOf(new Date(due_at)));
  const first = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  first.setDate(first.getDate() - ((first.getDay() + 6) % 7) - (weeks - 1) * 7);
  return Array.from({ length: weeks * 7 }, (_, index) => {
    const date = new Date(first.getFullYear(), first.getMonth(), first.getDate() + index);
    const found = byDay.get(dayOf(date)) ?? [];
    return { day: dayOf(date), records: found, shares: sharesOf(found), words: wordsOf(found) };
  });
}

export function dayOf(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

export const toneOfResult: Record<DueRecord["result"], Tone> = {
  ran: "ok",
  skipped: "idle",
  missed: "bad",
};

const worstFirst = ["missed", "skipped", "ran"] as const;

function sharesOf(records: DueRecord[]): CalendarDay["shares"] {
  const whole = sumOf(records);
  return worstFirst
    .map((result) => {
      const share = sumOf(records.filter((record) => record.result === result)) / whole;
      return { tone: toneOfResult[result], share };
    })
    .filter(({ share }) => share > 0);
}

function wordsOf(records: DueRecord[]): string {
  if (records.length === 0) return "nothing was due";
  const counts = [...grouped(records, ({ result }) => result)];
  return counts.map(([result, found]) => `${sumOf(found)} ${result}`).join(", ");
}

function sumOf(records: DueRecord[]): number {
  return records.reduce((sum, { count }) => sum + (count ?? 1), 0);
}
