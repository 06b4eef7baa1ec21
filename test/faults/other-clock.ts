import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const program = pathToFileURL(resolve(import.meta.dirname, "programs/other-clock.mjs"));

/** A clock for one fleet process alone, kept in this file. */
export class OtherClock {
  private ahead = 0;

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

  private set(ahead: number): void {
    this.ahead = ahead;
    writeFileSync(this.file, JSON.stringify({ ahead, speed: this.speed }));
  }
}
