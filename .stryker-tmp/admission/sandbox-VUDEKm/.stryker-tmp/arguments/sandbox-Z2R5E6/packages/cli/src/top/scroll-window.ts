import type { Key } from "./keys.ts";

/** The visible part of a list of lines. A window at the end follows added lines. */
export class ScrollWindow {
  private top = 0;
  private lineCount = 0;
  private height = 1;
  private isFollowing: boolean;
  /** Whether the last line has been on the screen. */
  hasSeenEnd = false;

  constructor(options: { atEnd: boolean }) {
    this.isFollowing = options.atEnd;
  }

  visibleLines(lines: string[], height: number): string[] {
    this.lineCount = lines.length;
    this.height = Math.max(height, 1);
    this.top = this.isFollowing ? this.lastTop : Math.min(this.top, this.lastTop);
    this.hasSeenEnd ||= this.top === this.lastTop;
    return lines.slice(this.top, this.top + this.height);
  }

  /** Returns false if the key does not scroll. */
  handleKey({ name }: Key): boolean {
    const steps: Partial<Record<Key["name"], number>> = {
      up: -1,
      down: 1,
      pageup: 1 - this.height,
      pagedown: this.height - 1,
      home: -this.lineCount,
      end: this.lineCount,
    };
    const step = steps[name];
    if (step === undefined) return false;
    this.top = Math.min(Math.max(this.top + step, 0), this.lastTop);
    this.isFollowing = this.top === this.lastTop && step > 0;
    return true;
  }

  /** `12–40 of 300`; empty if all lines are visible. */
  get positionText(): string {
    if (this.lineCount <= this.height) return "";
    return `${this.top + 1}–${Math.min(this.top + this.height, this.lineCount)} of ${this.lineCount}`;
  }

  private get lastTop(): number {
    return Math.max(0, this.lineCount - this.height);
  }
}
