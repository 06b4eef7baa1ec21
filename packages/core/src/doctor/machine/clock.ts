import { type Finding, failed, ok, warning } from "../check.ts";

export interface ClockFacts {
  now: Date;
  /** The zone that Node goes by. */
  zone: string;
  /** `TZ` of the environment. */
  given: string | undefined;
  /** How far the clock ran ahead of the time that really passed while the doctor looked. */
  jump: number;
  /** How far it is ahead of the API's; undefined when nobody was asked. */
  skew: number | undefined;
}

const name = "clock";
/** No herdctl is older. */
const earliest = new Date("2025-01-01T00:00:00Z");
const minute = 60_000;
/** Senders of webhooks and ours accept no more. */
const mostForSignatures = 5 * minute;
const mostUnnoticed = minute / 2;
const mostJump = 2_000;
const synchronise = "Let the system keep the time, for example with `timedatectl set-ntp true`.";

export function judgeClock({ now, zone, given, jump, skew }: ClockFacts): Finding {
  if (now < earliest) {
    return failed(name, `The clock says ${now.toISOString()}, which cannot be.`, synchronise);
  }
  if (skew !== undefined && Math.abs(skew) > mostUnnoticed) {
    const message = `The clock is ${apart(skew)} the API's: schedules run at the wrong time.`;
    const isTooMuch = Math.abs(skew) > mostForSignatures;
    if (!isTooMuch) return warning(name, message, synchronise);
    return failed(name, `${message} Signed webhooks are refused.`, synchronise);
  }
  if (Math.abs(jump) > mostJump) {
    return warning(
      name,
      `The clock was set while the doctor looked: ${apart(jump)} before.`,
      synchronise,
    );
  }
  if (given !== undefined && given !== "" && !isZone(given)) {
    const hint = "Set TZ to a name such as `Europe/Berlin`, or unset it.";
    return warning(name, `TZ is "${given}", which is no time zone: ${zone} is used.`, hint);
  }
  const agreed = skew === undefined ? "" : "; it agrees with the API's";
  return ok(name, `Time zone ${zone}${agreed}.`);
}

function apart(milliseconds: number): string {
  const seconds = Math.round(Math.abs(milliseconds) / 1_000);
  const text = seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return `${text} ${milliseconds > 0 ? "ahead of" : "behind"}`;
}

function isZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: text.replace(/^:/, "") });
    return true;
  } catch {
    return false;
  }
}
