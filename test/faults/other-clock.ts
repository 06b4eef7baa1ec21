import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const program = pathToFileURL(resolve(import.meta.dirname, "programs/other-clock.mjs"));

/** A fleet looks often at what its clock should say; on a busy machine a jump takes so long to show. */
const unnoticed = 2_000;

/** A clock for one fleet process alone, kept in this file. */
export class OtherClock {
  private ahead = 0;
  /** How far it was ahead, from when on by ours. */
  private readonly settings: { ahead: number; from: number }[] = [];

  constructor(
    private readonly file: string,
    private readonly speed = 1,
  ) {
    this.set(0);
  }

  get env(): Record<string, string> {
    return { NODE_OPTIONS: `--import=${program}`, CLOCK: this.file };
  }

  /** So many milliseconds forward, or back. */
  jump(by: number): void {
    this.set(this.ahead + by);
  }

  /** When it was by ours as this one showed that time; the latest, if it was shown twice. */
  truly(time: string): string {
    const asOurs = this.settings.flatMap(({ ahead, from }, index) => {
      const ours = Date.parse(time) - ahead;
      const to = this.settings[index + 1]?.from ?? Number.POSITIVE_INFINITY;
      return ours >= from && ours < to + unnoticed ? [ours] : [];
    });
    return asOurs.length > 0 ? new Date(Math.max(...asOurs)).toISOString() : time;
  }

  private set(ahead: number): void {
    this.ahead = ahead;
    this.settings.push({ ahead, from: Date.now() });
    writeFileSync(this.file, JSON.stringify({ ahead, speed: this.speed }));
  }
}
