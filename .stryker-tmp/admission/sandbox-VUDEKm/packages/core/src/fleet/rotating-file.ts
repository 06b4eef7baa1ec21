import { closeSync, fstatSync, openSync, renameSync, writeSync } from "node:fs";
import { ensurePrivateDir } from "../store/files/state-folder.ts";

export interface RotatingFileOptions {
  maxBytes: number;
  /** Number of old files to keep besides the current one. */
  maxFiles: number;
  now: () => Date;
}

/**
 * A log file. When it is full, and on a new day, it is renamed to `<path>.1` and so on. Lines are
 * written synchronously, so that the last lines before a crash are kept. A line that cannot be
 * written is dropped: a full disk must not stop the process that logs.
 */
export class RotatingFile {
  private handle: number | undefined;
  private size = 0;
  private openedDay = "";

  constructor(
    private readonly path: string,
    private readonly folder: string,
    private readonly options: RotatingFileOptions,
  ) {}

  write(line: string): void {
    try {
      const handle = this.handleFor(Buffer.byteLength(line));
      this.size += writeSync(handle, line);
    } catch {
      this.close();
    }
  }

  close(): void {
    if (this.handle !== undefined) closeSync(this.handle);
    this.handle = undefined;
  }

  private handleFor(addedBytes: number): number {
    const handle = this.handle ?? this.open();
    const isFull = this.size > 0 && this.size + addedBytes > this.options.maxBytes;
    if (!isFull && this.openedDay === dayOf(this.options.now())) return handle;
    this.close();
    this.rotate();
    return this.open();
  }

  private open(): number {
    ensurePrivateDir(this.folder);
    const handle = openSync(this.path, "a", 0o600);
    const { size, mtime } = fstatSync(handle);
    this.handle = handle;
    this.size = size;
    this.openedDay = dayOf(size === 0 ? this.options.now() : mtime);
    return handle;
  }

  private rotate(): void {
    for (let number = this.options.maxFiles - 1; number >= 1; number -= 1) {
      renameIfExists(`${this.path}.${number}`, `${this.path}.${number + 1}`);
    }
    renameIfExists(this.path, `${this.path}.1`);
  }
}

function dayOf(date: Date): string {
  return date.toDateString();
}

function renameIfExists(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch {
    // It does not exist yet.
  }
}
