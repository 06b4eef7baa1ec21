/**
 * The clock on the wall of a time zone. A wall time is written as the milliseconds that UTC would
 * show at that reading, so that times of day can be counted with where no zone bends them.
 */
export class Zone {
  private readonly format: Intl.DateTimeFormat;
  private readonly known = new Map<number, number | undefined>();

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

  wallOf(instant: number): number {
    return instant + this.offsetAt(instant);
  }

  /**
   * The first moment at which the clock shows this time or a later one. So a time that is leapt
   * over comes at the end of the leap, and one that is shown twice comes once, the first time.
   */
  firstShowing(wall: number): number {
    const [before, after] = [this.offsetAt(wall - twoDays), this.offsetAt(wall + twoDays)];
    const shown = [wall - before, wall - after].filter((at) => this.wallOf(at) === wall);
    return shown.length > 0
      ? Math.min(...shown)
      : this.endOfLeap(wall, wall - after, wall - before);
  }

  /** The latest time that the clock has shown by now: more than it shows after being set back. */
  furthestShown(instant: number): number {
    const shown = this.wallOf(instant);
    const setBack = this.offsetAt(instant - oneDay) - this.offsetAt(instant);
    if (setBack <= 0) return shown;
    const offset = this.offsetAt(instant);
    const when = firstWhere(instant - oneDay, instant, (at) => this.offsetAt(at) === offset);
    return Math.max(shown, when - 1 + offset + setBack);
  }

  private endOfLeap(wall: number, from: number, to: number): number {
    return firstWhere(from - 1, to, (at) => this.wallOf(at) >= wall);
  }

  /** Asking the system is slow: a week that begins and ends with one offset has no other in between. */
  private offsetAt(instant: number): number {
    const week = Math.floor(instant / oneWeek);
    if (!this.known.has(week)) {
      const first = this.readOffset(week * oneWeek);
      const isSteady = first === this.readOffset((week + 1) * oneWeek);
      this.known.set(week, isSteady ? first : undefined);
    }
    return this.known.get(week) ?? this.readOffset(instant);
  }

  private readOffset(instant: number): number {
    const part: Record<string, number> = {};
    for (const { type, value } of this.format.formatToParts(instant)) part[type] = Number(value);
    const { year = 0, month = 1, day, hour, minute, second } = part;
    const seconds = Math.floor(instant / 1000) * 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - seconds;
  }
}

/** The first moment after `early` from which on something holds, given that it does at `late`. */
function firstWhere(early: number, late: number, holds: (at: number) => boolean): number {
  let [no, yes] = [early, late];
  while (yes - no > 1) {
    const middle = Math.floor((no + yes) / 2);
    if (holds(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

const oneDay = 86_400_000;
const twoDays = 2 * oneDay;
const oneWeek = 7 * oneDay;

const zones = new Map<string, Zone>();

export function zoneOf(name: string): Zone {
  const zone = zones.get(name) ?? new Zone(name);
  zones.set(name, zone);
  return zone;
}
