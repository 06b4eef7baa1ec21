/*
 * Due times found in another way: by looking at the clock on the wall minute by minute, as a person
 * would, with a cron of a few lines.
 */

const minute = 60_000;
const hour = 60 * minute;

/**
 * Somebody who watched the clock of a zone and wrote down, for every time of day, when it was first
 * shown, or leapt over.
 */
export class ClockWatcher {
  private readonly shownAt: Float64Array;
  private readonly start: number;
  /** When the clock was put forward or back. */
  readonly changes: number[] = [];

  constructor(
    timeZone: string,
    readonly from: number,
    readonly to: number,
  ) {
    const clock = clockOf(timeZone);
    this.start = clock(from) + minute;
    this.shownAt = new Float64Array((to - from) / minute + 24 * 60).fill(Number.NaN);
    let furthest = clock(from);
    for (let began = from; began < to; began += hour) {
      const [offset, next] = [clock(began) - began, clock(began + hour) - began - hour];
      if (offset !== next) this.changes.push(began);
      for (let at = began + minute; at <= began + hour; at += minute) {
        const shown = offset === next ? at + offset : clock(at);
        for (; furthest < shown; furthest += minute) {
          this.shownAt[(furthest + minute - this.start) / minute] = at;
        }
      }
    }
  }

  /** Every moment at which one of these times was shown for the first time, or leapt over. */
  momentsOf(walls: readonly number[]): number[] {
    const moments = walls.map((wall) => this.shownAt[(wall - this.start) / minute] ?? Number.NaN);
    return [...new Set(moments.filter((at) => at > this.from && at <= this.to))];
  }
}

function clockOf(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** Every wall time that fits an expression of five fields. */
export function wallTimesOf(expression: string, from: number, to: number): number[] {
  const [minutes, hours, days, months, weekdays] = (nicknames[expression] ?? expression).split(" ");
  const fitsMonth = field(months, 1, 12);
  const fitsDay = field(days, 1, 31);
  const fitsWeekday = field(weekdays, 0, 7);
  const both = days === "*" || weekdays === "*";
  const found: number[] = [];
  for (let day = from; day < to; day += 24 * hour) {
    const date = new Date(day);
    const onDay = fitsDay(date.getUTCDate());
    const weekday = date.getUTCDay();
    const onWeekday = fitsWeekday(weekday) || (weekday === 0 && fitsWeekday(7));
    const fits = both ? onDay && onWeekday : onDay || onWeekday;
    if (!fits || !fitsMonth(date.getUTCMonth() + 1)) continue;
    for (let h = 0; h < 24; h++) {
      if (!field(hours, 0, 23)(h)) continue;
      for (let m = 0; m < 60; m++) {
        if (field(minutes, 0, 59)(m)) found.push(day + h * hour + m * minute);
      }
    }
  }
  return found;
}

const nicknames: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
};

const words = [
  ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
  ["", "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"],
];

const fields = new Map<string, Set<number>>();

function field(text = "*", lowest: number, highest: number): (value: number) => boolean {
  const name = `${text} ${lowest} ${highest}`;
  const fitting = fields.get(name) ?? new Set<number>();
  if (!fields.has(name)) fill(fitting, text, lowest, highest);
  fields.set(name, fitting);
  return (value) => fitting.has(value);
}

function fill(fitting: Set<number>, text: string, lowest: number, highest: number): void {
  for (const part of text.split(",")) {
    const [range = "*", step] = part.split("/");
    const [first = "*", last] = range.split("-");
    const from = first === "*" ? lowest : numberOf(first);
    const to = last ? numberOf(last) : first === "*" || step ? highest : from;
    for (let value = from; value <= to; value += Number(step ?? 1)) fitting.add(value);
  }
}

function numberOf(text: string): number {
  const named = words.map((list) => list.indexOf(text)).find((index) => index >= 0);
  return named ?? Number(text);
}
