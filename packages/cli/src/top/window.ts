import type { Key } from "./keys.ts";

/** Which part of many lines is seen. At the end it stays at the end while lines are added. */
export class Window {
  private top = 0;
  private count = 0;
  private height = 1;
  private follows: boolean;
  /** Whether the last line has been on the screen. */
  sawEnd = false;

  constructor(options: { atEnd: boolean }) {
    this.follows = options.atEnd;
  }

  view(lines: string[], height: number): string[] {
    this.count = lines.length;
    this.height = Math.max(height, 1);
    this.top = this.follows ? this.last : Math.min(this.top, this.last);
    this.sawEnd ||= this.top === this.last;
    return lines.slice(this.top, this.top + this.height);
  }

  /** False when the key has nothing to do with moving. */
  press({ name }: Key): boolean {
    const steps: Partial<Record<Key["name"], number>> = {
      up: -1,
      down: 1,
      pageup: 1 - this.height,
      pagedown: this.height - 1,
      home: -this.count,
      end: this.count,
    };
    const step = steps[name];
    if (step === undefined) return false;
    this.top = Math.min(Math.max(this.top + step, 0), this.last);
    this.follows = this.top === this.last && step > 0;
    return true;
  }

  /** `12–40 of 300`; nothing when all is seen. */
  get place(): string {
    if (this.count <= this.height) return "";
    return `${this.top + 1}–${Math.min(this.top + this.height, this.count)} of ${this.count}`;
  }

  private get last(): number {
    return Math.max(0, this.count - this.height);
  }
}
