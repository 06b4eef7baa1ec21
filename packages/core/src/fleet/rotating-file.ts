import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { ensureFolder } from "../state/folder.ts";

export interface RotatingOptions {
  maxBytes: number;
  /** How many old files stay beside the current one. */
  keep: number;
  now: () => Date;
}

/**
 * A file that lines are added to; when it is full, and on a new day, it becomes `<path>.1` and so
 * on. Written at once, so that the last words before a crash are there. A line that cannot be
 * written is lost: a full disk must not stop the one who only tells about it.
 */
export class RotatingFile {
  private handle: number | undefined;
  private size = 0;
  private day = "";

  constructor(
    private readonly path: string,
    private readonly folder: string,
    private readonly options: RotatingOptions,
  ) {}

  write(line: string): void {
    try {
      const handle = this.opened(Buffer.byteLength(line));
      this.size += writeSync(handle, line);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.handle !== undefined) closeSync(this.handle);
    this.handle = undefined;
  }

  private opened(more: number): number {
    const handle = this.handle ?? this.open();
    const isFull = this.size > 0 && this.size + more > this.options.maxBytes;
    if (!isFull && this.day === dayOf(this.options.now())) return handle;
    this.close();
    this.shift();
    return this.open();
  }

  private open(): number {
    ensureFolder(this.folder);
    const handle = openSync(this.path, "a", 0o600);
    const { size, mtime } = fstatSync(handle);
    this.handle = handle;
    this.size = size;
    this.day = dayOf(size === 0 ? this.options.now() : mtime);
    return handle;
  }

  private shift(): void {
    for (let number = this.options.keep - 1; number >= 1; number -= 1) {
      rename(`${this.path}.${number}`, `${this.path}.${number + 1}`);
    }
    rename(this.path, `${this.path}.1`);
  }
}

function dayOf(date: Date): string {
  return date.toDateString();
}

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // Not there yet.
  }
}
