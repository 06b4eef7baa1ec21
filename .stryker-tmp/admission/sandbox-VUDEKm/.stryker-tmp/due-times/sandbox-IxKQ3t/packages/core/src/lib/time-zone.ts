import type { BudgetDay } from "@herdctl/protocol";

/**
 * Converts between instants and wall times of a time zone. A wall time is the timestamp at which UTC
 * shows that date and time, so that arithmetic on it is not affected by offset changes.
 */
export class TimeZone {
  private readonly format: Intl.DateTimeFormat;
  private readonly offsetsByWeek = new Map<number, number | undefined>();

  constructor(readonly name: string) {
    this.format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  }

  wallTimeAt(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /**
   * The first instant at which the clock shows this time or a later one. A time that is skipped maps
   * to the end of the gap; a time that occurs twice maps to its first occurrence.
   */
  firstInstantAt(wallTime: number): number {
    const [before, after] = [
      this.offsetAt(wallTime - twoDaysMs),
      this.offsetAt(wallTime + twoDaysMs),
    ];
    const shown = [wallTime - before, wallTime - after].filter(
      (at) => this.wallTimeAt(at) === wallTime,
    );
    return shown.length > 0
      ? Math.min(...shown)
      : this.endOfGap(wallTime, wallTime - after, wallTime - before);
  }

  /** The latest wall time shown so far. After the clock is set back, it is later than the current one. */
  latestWallTime(instant: number): number {
    const shown = this.wallTimeAt(instant);
    const setBackMs = this.offsetAt(instant - dayMs) - this.offsetAt(instant);
    if (setBackMs <= 0) return shown;
    const offset = this.offsetAt(instant);
    const setBackAt = findFirst(instant - dayMs, instant, (at) => this.offsetAt(at) === offset);
    return Math.max(shown, setBackAt - 1 + offset + setBackMs);
  }

  private endOfGap(wallTime: number, from: number, to: number): number {
    return findFirst(from - 1, to, (at) => this.wallTimeAt(at) >= wallTime);
  }

  /** Reading the offset is slow, so a week that begins and ends with the same offset is cached. */
  private offsetAt(instant: number): number {
    const week = Math.floor(instant / weekMs);
    if (!this.offsetsByWeek.has(week)) {
      const first = this.readOffset(week * weekMs);
      const isSteady = first === this.readOffset((week + 1) * weekMs);
      this.offsetsByWeek.set(week, isSteady ? first : undefined);
    }
    return this.offsetsByWeek.get(week) ?? this.readOffset(instant);
  }

  private readOffset(instant: number): number {
    const part: Record<string, number> = {};
    for (const { type, value } of this.format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day, hour, minute, second } = part;
    const seconds = Math.floor(instant / 1000) * 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
  }
}

/** The first instant after `early` at which `holds` is true, given that it is true at `late`. */
function findFirst(early: number, late: number, holds: (at: number) => boolean): number {
  let [no, yes] = [early, late];
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

const dayMs = 86_400_000;
const twoDaysMs = 2 * dayMs;
const weekMs = 7 * dayMs;

const zones = new Map<string, TimeZone>();

export function timeZoneOf(name: string): TimeZone {
  const zone = zones.get(name) ?? new TimeZone(name);
  zones.set(name, zone);
  return zone;
}

/** Cached because the lookup is slow; Node itself reads the zone again only when `TZ` changes. */
export function machineTimezone(): string {
  const { TZ } = process.env;
  if (cachedMachineZone?.TZ !== TZ) cachedMachineZone = undefined;
  cachedMachineZone ??= { TZ, name: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  return cachedMachineZone.name;
}

let cachedMachineZone: { TZ: string | undefined; name: string } | undefined;

/** The current day in a time zone (default: the machine's). */
export function dayOf(now: Date, timezone: string = machineTimezone()): BudgetDay {
  const zone = timeZoneOf(timezone);
  const wallTime = zone.wallTimeAt(now.getTime());
  const midnight = Math.floor(wallTime / dayMs) * dayMs;
  return {
    name: new Date(midnight).toISOString().slice(0, 10),
    start: new Date(zone.firstInstantAt(midnight)),
  };
}
