/*
 * Computes due times independently: minute by minute on the wall clock with a minimal cron
 * implementation.
 */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Records for every local time of a zone when it was first shown or skipped. */
export class WallClockIndex {
  private readonly wallTimes: Float64Array;
  private readonly start: number;
  /** The instants of clock changes. */
  readonly changes: number[] = [];

  constructor(
    timeZone: string,
    readonly from: number,
    readonly to: number,
  ) {
    const clock = wallClock(timeZone);
    this.start = clock(from) + minuteMs;
    this.wallTimes = new Float64Array((to - from) / minuteMs + 24 * 60).fill(Number.NaN);
    let furthest = clock(from);
    for (let began = from; began < to; began += hourMs) {
      const [offset, next] = [clock(began) - began, clock(began + hourMs) - began - hourMs];
      if (offset !== next) this.changes.push(began);
      for (let at = began + minuteMs; at <= began + hourMs; at += minuteMs) {
        const shown = offset === next ? at + offset : clock(at);
        for (; furthest < shown; furthest += minuteMs) {
          this.wallTimes[(furthest + minuteMs - this.start) / minuteMs] = at;
        }
      }
    }
  }

  /** The instants at which one of these local times was first shown or skipped. */
  instantsOf(walls: readonly number[]): number[] {
    const moments = walls.map(
      (wall) => this.wallTimes[(wall - this.start) / minuteMs] ?? Number.NaN,
    );
    return [...new Set(moments.filter((at) => at > this.from && at <= this.to))];
  }
}

function wallClock(timeZone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (instant) => Date.parse(`${format.format(instant).replace(" ", "T")}Z`);
}

/** Every local time that matches an expression of five fields. */
export function wallTimesOfCron(expression: string, from: number, to: number): number[] {
  const [minutes, hours, days, months, weekdays] = (nicknames[expression] ?? expression).split(" ");
  const fitsMonth = parseField(months, 1, 12);
  const fitsDay = parseField(days, 1, 31);
  const fitsWeekday = parseField(weekdays, 0, 7);
  const both = days === "*" || weekdays === "*";
  const found: number[] = [];
  for (let day = from; day < to; day += 24 * hourMs) {
    const date = new Date(day);
    const onDay = fitsDay(date.getUTCDate());
    const weekday = date.getUTCDay();
    const onWeekday = fitsWeekday(weekday) || (weekday === 0 && fitsWeekday(7));
    const fits = both ? onDay && onWeekday : onDay || onWeekday;
    if (!fits || !fitsMonth(date.getUTCMonth() + 1)) continue;
    for (let h = 0; h < 24; h++) {
      if (!parseField(hours, 0, 23)(h)) continue;
      for (let m = 0; m < 60; m++) {
        if (parseField(minutes, 0, 59)(m)) found.push(day + h * hourMs + m * minuteMs);
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

function parseField(text = "*", lowest: number, highest: number): (value: number) => boolean {
  const name = `${text} ${lowest} ${highest}`;
  const values = fields.get(name) ?? new Set<number>();
  if (!fields.has(name)) fillValues(values, text, lowest, highest);
  fields.set(name, values);
  return (value) => values.has(value);
}

function fillValues(values: Set<number>, text: string, lowest: number, highest: number): void {
  for (const part of text.split(",")) {
    const [range = "*", step] = part.split("/");
    const [first = "*", last] = range.split("-");
    const from = first === "*" ? lowest : numberOf(first);
    const to = last ? numberOf(last) : first === "*" || step ? highest : from;
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value);
  }
}

function numberOf(text: string): number {
  const named = words.map((list) => list.indexOf(text)).find((index) => index >= 0);
  return named ?? Number(text);
}
