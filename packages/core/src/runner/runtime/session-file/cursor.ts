import type { FileHandle } from "node:fs/promises";
import { parseLine, type SessionLine, type SkipReason } from "./line.ts";
import { openPlanted } from "./planted.ts";
import { LineSplitter, type RawLine } from "./splitter.ts";

/** A line and where it stands; `end` is the offset from which reading may go on later. */
export interface PlacedLine {
  line: SessionLine;
  start: number;
  end: number;
}

export interface SkippedLine {
  reason: SkipReason;
  start: number;
  end: number;
}

export interface ReadOptions {
  /** Bytes before this offset are taken as known. */
  from?: number;
  onSkipped?: (skipped: SkippedLine) => void;
  longestLine?: number;
}

const chunkSize = 64 * 1024;
/** Enough to hold what differs between lines, which mostly end alike. */
const fingerprintSize = 4096;
const longestLineByDefault = 128 * 1024 * 1024;

/**
 * A place in a file that another process writes. Each `read` gives the lines that were finished
 * since the last one. A file that was cut or replaced is read anew from its beginning; since a
 * line is known by its uuid, none is given twice.
 */
export class FileCursor {
  private splitter: LineSplitter;
  private inode: number | undefined;
  private fingerprint = Buffer.alloc(0);
  private readonly given = new Set<string>();
  private readonly longest: number;

  constructor(
    private readonly file: string,
    private readonly options: ReadOptions,
  ) {
    this.longest = options.longestLine ?? longestLineByDefault;
    this.splitter = new LineSplitter(options.from ?? 0, this.longest);
  }

  async *read(): AsyncGenerator<PlacedLine> {
    const handle = await openPlanted(this.file);
    if (handle === undefined) return;
    try {
      await this.recognise(handle);
      const chunk = Buffer.allocUnsafe(chunkSize);
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, chunkSize, this.splitter.offset);
        // Asked after the read: a file cut and filled again just before it would pass unnoticed.
        if (!(await this.isContinued(handle))) {
          this.startOver();
          continue;
        }
        if (bytesRead === 0) return;
        const bytes = Buffer.from(chunk.subarray(0, bytesRead));
        this.remember(bytes);
        for (const raw of this.splitter.push(bytes)) yield* this.give(raw);
      }
    } finally {
      await handle.close();
    }
  }

  /** The last line when its newline never came: taken if it is whole, else counted as torn. */
  *finish(): Generator<PlacedLine> {
    const raw = this.splitter.rest();
    if (raw) yield* this.give(raw);
  }

  private *give(raw: RawLine): Generator<PlacedLine> {
    const { start, end } = raw;
    const parsed =
      raw.kind === "complete"
        ? parseLine(raw.bytes)
        : ({ kind: "skipped", reason: "too_long" } as const);
    if (parsed.kind === "skipped") this.options.onSkipped?.({ reason: parsed.reason, start, end });
    if (parsed.kind !== "line") return;
    const { uuid } = parsed.line;
    if (uuid !== undefined) {
      if (this.given.has(uuid)) return;
      this.given.add(uuid);
    }
    yield { line: parsed.line, start, end };
  }

  private async recognise(handle: FileHandle): Promise<void> {
    const { ino } = await handle.stat();
    if (this.inode !== undefined && this.inode !== ino) this.startOver();
    this.inode = ino;
  }

  /** Whether the bytes before this place are still those that were read there. */
  private async isContinued(handle: FileHandle): Promise<boolean> {
    const { length } = this.fingerprint;
    if (length === 0) return (await handle.stat()).size >= this.splitter.offset;
    const found = Buffer.alloc(length);
    await handle.read(found, 0, length, this.splitter.offset - length);
    return found.equals(this.fingerprint);
  }

  private remember(bytes: Buffer): void {
    const known = Buffer.concat([this.fingerprint, bytes]);
    this.fingerprint = Buffer.from(known.subarray(-fingerprintSize));
  }

  private startOver(): void {
    this.splitter = new LineSplitter(0, this.longest);
    this.fingerprint = Buffer.alloc(0);
  }
}
