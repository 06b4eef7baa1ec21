import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { failPoint } from "../../testing/failpoints.ts";
import { ensureJobDir } from "./job-folder.ts";

export const outputFileName = "output.jsonl";

const megabyteBytes = 1024 * 1024;
const defaultMaxBytes = 256 * megabyteBytes;
/** Extra space for results, because a log without its result does not show how the run ended. */
const resultReserveBytes = 64 * megabyteBytes;

/** Opens the log of a job for appending. Only one writer at a time. */
export async function openOutput(
  jobDir: string,
  maxBytes = defaultMaxBytes,
): Promise<OutputWriter> {
  // Synchronous, because the folder almost always exists and the caller is waiting.
  ensureJobDir(jobDir);
  const file = join(jobDir, outputFileName);
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  const handle = await open(file, "a+", 0o600);
  try {
    const hasPartialLine = size > 0 && (await endsWithPartialLine(handle, size));
    return new OutputWriter(handle, hasPartialLine, { size, maxBytes });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Writes lines in order and without delay. Lines that arrive during a write are written together
 * with the next one. A promise resolves when its line has left this process and survives it, so
 * awaiting it slows the caller to the speed of the disk.
 */
export class OutputWriter {
  readonly #handle: FileHandle;
  #hasPartialLine: boolean;
  #lines: (string | Uint8Array)[] = [];
  #nextWrite: Promise<void> | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #closing: Promise<void> | undefined;
  #size: number;
  readonly #maxBytes: number;
  #droppedCount = 0;

  constructor(
    handle: FileHandle,
    hasPartialLine: boolean,
    { size, maxBytes }: { size: number; maxBytes: number },
  ) {
    this.#handle = handle;
    this.#hasPartialLine = hasPartialLine;
    this.#size = size;
    this.#maxBytes = maxBytes;
  }

  /** Number of messages that were dropped because the log had reached its maximum size. */
  get dropped(): number {
    return this.#droppedCount;
  }

  /**
   * Beyond the maximum size only results are kept. One line marks the start of the dropped
   * messages.
   */
  append(message: object, { isResult = false } = {}): Promise<void> {
    const line = JSON.stringify(message);
    const size = Buffer.byteLength(line) + newline.length;
    const limit = this.#maxBytes + (isResult ? resultReserveBytes : 0);
    // defence: job-log-size-limit
    if (this.#size + size <= limit) {
      this.#size += size;
      return this.appendRaw(line);
    }
    this.#droppedCount += 1;
    return this.#droppedCount === 1 ? this.appendRaw(this.#limitMarker()) : Promise.resolve();
  }

  #limitMarker(): string {
    const [type, subtype, reason] = ["system", "output_dropped", "log_full"];
    return JSON.stringify({ type, subtype, reason, max_bytes: this.#maxBytes });
  }

  /** Appends a line that is already JSON, without its newline. */
  async appendRaw(line: string | Uint8Array): Promise<void> {
    if (this.#closing) throw new Error("the output is closed");
    if (line.length === 0 || containsNewline(line))
      throw new Error("an output line must be one line");
    this.#lines.push(line);
    this.#nextWrite ??= this.#queueWrite();
    return this.#nextWrite;
  }

  /** Also protects against a power cut. */
  async sync(): Promise<void> {
    await (this.#nextWrite ?? this.#lastWrite);
    await this.#handle.datasync();
  }

  close(): Promise<void> {
    this.#closing ??= this.#lastWrite.then(() => this.#handle.close());
    return this.#closing;
  }

  #queueWrite(): Promise<void> {
    const write = this.#lastWrite.then(() => this.#writeLines());
    this.#lastWrite = write.catch(() => {});
    return write;
  }

  async #writeLines(): Promise<void> {
    const lines = this.#lines;
    this.#lines = [];
    this.#nextWrite = undefined;
    try {
      failPoint("log write");
      if (this.#hasPartialLine) await writeFully(this.#handle, newline);
      for (const chunk of chunks(lines)) await writeFully(this.#handle, chunk);
      this.#hasPartialLine = false;
    } catch (error) {
      this.#hasPartialLine = true;
      throw error;
    }
  }
}

const newline = Buffer.from("\n");
const maxChunkBytes = 1024 * 1024;

/** Joins small lines and cuts huge ones, so that a huge line is not copied again. */
function* chunks(lines: readonly (string | Uint8Array)[]): Generator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for (const part of encodeLines(lines)) {
    pending.push(part);
    length += part.length;
    if (length < maxChunkBytes) continue;
    yield* part.length < maxChunkBytes ? [Buffer.concat(pending)] : pending;
    pending = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(pending);
}

function* encodeLines(lines: readonly (string | Uint8Array)[]): Generator<Uint8Array> {
  for (const line of lines) {
    if (typeof line === "string") yield* encodeInSlices(line);
    else yield line;
    yield newline;
  }
}

function* encodeInSlices(text: string): Generator<Uint8Array> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + maxChunkBytes, text.length);
    // Half a surrogate pair would become a replacement character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let writtenBytes = 0; writtenBytes < bytes.length; ) {
    writtenBytes += (await handle.write(bytes, writtenBytes, bytes.length - writtenBytes))
      .bytesWritten;
  }
}

async function endsWithPartialLine(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline[0];
}

function containsNewline(line: string | Uint8Array): boolean {
  return typeof line === "string" ? line.includes("\n") : line.includes(10);
}
