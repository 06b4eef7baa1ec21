import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const program = pathToFileURL(resolve(import.meta.dirname, "programs/shifted-clock.mjs"));

/** How long a fleet on a busy machine may take to notice a clock jump. */
const noticeDelayMs = 2_000;

/** A clock for one fleet process, controlled by this file. */
export class ShiftedClock {
  private aheadMs = 0;
  /** The offsets, with the real time from which each applies. */
  private readonly settings: { aheadMs: number; from: number }[] = [];

  constructor(
    private readonly file: string,
    private readonly speed = 1,
  ) {
    this.set(0);
  }

  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${program}`, CLOCK: this.file };
  }

  /** Moves the clock by this many milliseconds. */
  jump(by: number): void {
    this.set(this.aheadMs + by);
  }

  /** The real time at which this clock showed `time`; the latest, if it showed it twice. */
  toRealTime(time: string): string {
    const candidates = this.settings.flatMap(({ aheadMs, from }, index) => {
      const ours = Date.parse(time) - aheadMs;
      const to = this.settings[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return ours >= from && ours < to + noticeDelayMs ? [ours] : [];
    });
    return candidates.length > 0 ? new Date(Math.max(...candidates)).toISOString() : time;
  }

  private set(aheadMs: number): void {
    this.aheadMs = aheadMs;
    this.settings.push({ aheadMs, from: Date.now() });
    writeFileSync(this.file, JSON.stringify({ ahead: aheadMs, speed: this.speed }));
  }
}
