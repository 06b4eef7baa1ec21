/**
 * The formats of all times in the dashboard: 24 hours and months as words, as in the command line,
 * so that no reader has to guess the order of day and month.
 */
const locale = "en-GB";

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(locale, { hourCycle: "h23", ...options });
}

const minute = { hour: "2-digit", minute: "2-digit" } as const;
const day = { day: "numeric", month: "short" } as const;

const monthFormat = format({ month: "short" });
const weekdayFormat = format({ weekday: "long" });

export const timeFormats = {
  /** `19 Nov 2026, 20:46:05` */
  exact: format({ ...day, year: "numeric", ...minute, second: "2-digit" }),
  /** `20:46` */
  minute: format(minute),
  /** `20:46:05` */
  second: format({ ...minute, second: "2-digit" }),
  /** `19 Nov, 20:46` */
  dayAndMinute: format({ ...day, ...minute }),
  /** `19 Nov, 20:46:05` */
  dayAndSecond: format({ ...day, ...minute, second: "2-digit" }),
  /** `Thu 20:46` */
  weekdayAndMinute: format({ weekday: "short", ...minute }),
  /** `19 Nov` */
  day: format(day),
  /** `19 Nov`, of a day without a time. */
  utcDay: format({ ...day, timeZone: "UTC" }),
  /** `Nov 19, Thursday`, which contains what a cell of a calendar shows. */
  monthDay: {
    format: (date: Date) =>
      `${monthFormat.format(date)} ${date.getDate()}, ${weekdayFormat.format(date)}`,
  },
  /** `Nov` */
  month: monthFormat,
};
