import type { FileHandle } from "node:fs/promises";
import { LineSplitter, type RawLine } from "../../lib/line-splitter.ts";
import { parseLine, type SessionLine, type SkipReason } from "./session-line.ts";
import { openUntrusted } from "./untrusted-file.ts";

/** A line with its offsets; reading can later continue at `end`. */
export interface LineWithOffsets {
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
  /** Start reading at this byte offset. */
  from?: number;
  onSkipped?: (skipped: SkippedLine) => void;
  maxLineBytes?: number;
}

const chunkBytes = 64 * 1024;
/** Large enough to tell lines apart, most of which end the same way. */
const fingerprintBytes = 4096;
const defaultMaxLineBytes = 128 * 1024 * 1024;

/**
 * A read position in a file that another process writes. Each `read` yields the lines completed since
 * the last call. A truncated or replaced file is read again from the start; lines are deduplicated by
 * uuid.
 */
export class FileCursor {
  private splitter: LineSplitter;
  private inode: number | undefined;
  private fingerprint = Buffer.alloc(0);
  private readonly seenUuids = new Set<string>();
  private readonly maxLineBytes: number;

  constructor(
    private readonly file: string,
    private readonly options: ReadOptions,
  ) {
    this.maxLineBytes = options.maxLineBytes ?? defaultMaxLineBytes;
    this.splitter = new LineSplitter(options.from ?? 0, this.maxLineBytes);
  }

  async *read(): AsyncGenerator<LineWithOffsets> {
    const handle = await openUntrusted(this.file);
    if (handle === undefined) return;
    try {
      await this.detectReplacement(handle);
      const chunk = Buffer.allocUnsafe(chunkBytes);
      for (;;) {
        const { bytesRead } = await handle.read(chunk, 0, chunkBytes, this.splitter.offset);
        // Checked after the read, so that a truncation just before the read is detected.
        if (!(await this.isPrefixUnchanged(handle))) {
          this.restart();
          continue;
        }
        if (bytesRead === 0) return;
        const bytes = Buffer.from(chunk.subarray(0, bytesRead));
        this.updateFingerprint(bytes);
        for (const raw of this.splitter.push(bytes)) yield* this.parseRaw(raw);
      }
    } finally {
      await handle.close();
    }
  }

  /** Yields an unterminated last line if it is complete JSON; otherwise it counts as broken. */
  *finish(): Generator<LineWithOffsets> {
    const raw = this.splitter.rest();
    if (raw) yield* this.parseRaw(raw);
  }

  private *parseRaw(raw: RawLine): Generator<LineWithOffsets> {
    const { start, end } = raw;
    const parsed =
      raw.kind === "complete"
        ? parseLine(raw.bytes)
        : ({ kind: "skipped", reason: "too_long" } as const);
    if (parsed.kind === "skipped") this.options.onSkipped?.({ reason: parsed.reason, start, end });
    if (parsed.kind !== "line") return;
    const { uuid } = parsed.line;
    if (uuid !== undefined) {
      if (this.seenUuids.has(uuid)) return;
      this.seenUuids.add(uuid);
    }
    yield { line: parsed.line, start, end };
  }

  private async detectReplacement(handle: FileHandle): Promise<void> {
    const { ino } = await handle.stat();
    if (this.inode !== undefined && this.inode !== ino) this.restart();
    this.inode = ino;
  }

  /** Whether the bytes before the position are still the ones that were read. */
  private async isPrefixUnchanged(handle: FileHandle): Promise<boolean> {
    const { length } = this.fingerprint;
    if (length === 0) return (await handle.stat()).size >= this.splitter.offset;
    const found = Buffer.alloc(length);
    await handle.read(found, 0, length, this.splitter.offset - length);
    return found.equals(this.fingerprint);
  }

  private updateFingerprint(bytes: Buffer): void {
    const known = Buffer.concat([this.fingerprint, bytes]);
    this.fingerprint = Buffer.from(known.subarray(-fingerprintBytes));
  }

  private restart(): void {
    this.splitter = new LineSplitter(0, this.maxLineBytes);
    this.fingerprint = Buffer.alloc(0);
  }
}
