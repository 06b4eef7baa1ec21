import { Cron } from "croner";
import { didYouMean } from "../yaml/did-you-mean.ts";
import { checkedText, InvalidValue, memoizeCheck } from "./codec.ts";

const cronHint =
  "Five fields: minute (0-59) hour (0-23) day (1-31) month (1-12) weekday (0-7 or MON-SUN); " +
  "a sixth field in front for seconds; or @hourly, @daily, @weekly, @monthly.";

export const cronExpression = checkedText(memoizeCheck(checkCron));

function checkCron(text: string): InvalidValue | undefined {
  try {
    const cron = new Cron(text, { paused: true, mode: "5-or-6-parts" });
    if (cron.nextRun()) return undefined;
    return new InvalidValue(`"${text}" never matches a date`, "Choose a date that exists.");
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^Cron\w+: /, "") : "";
    const reasonText = reason.startsWith("invalid configuration format")
      ? ""
      : ` (${lowerFirst(reason)})`;
    return new InvalidValue(`"${text}" is not a cron expression${reasonText}`, cronHint);
  }
}

export const timezone = checkedText(memoizeCheck(checkTimezone));

function checkTimezone(text: string): InvalidValue | undefined {
  if (isTimezone(text)) return undefined;
  const suggestion = didYouMean(text, Intl.supportedValuesOf("timeZone"));
  return new InvalidValue(
    `"${text}" is not a time zone`,
    suggestion
      ? `Did you mean \`${suggestion}\`?`
      : "Use an IANA name such as `Europe/Berlin` or `UTC`.",
  );
}

/** `2026-03-01T09:00` in the schedule's time zone, or with `Z` or an offset. */
export const pointInTime = checkedText((text) => {
  const shape = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(:\d{2})?(Z|[+-]\d{2}:\d{2})?$/.exec(text);
  // Date.parse turns 31 February into 3 March, so compare with the day that is written back.
  const day = shape ? new Date(`${shape[1]}T00:00:00Z`) : undefined;
  const exists =
    day && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(shape?.[1] ?? "-");
  if (exists && !Number.isNaN(Date.parse(text))) return undefined;
  return new InvalidValue(
    `"${text}" is not a point in time`,
    "Write `2026-03-01T09:00`, or with an offset: `2026-03-01T09:00+01:00`.",
  );
});

function isTimezone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
