import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { failPoint } from "../faults/fail-point.ts";
import { ensureJobDir } from "./job-dir.ts";

export const outputName = "output.jsonl";

const megabyte = 1024 * 1024;
const defaultMaxBytes = 256 * megabyte;
/** What results may take beyond the limit: a log without its result says nothing of the end. */
const resultReserveBytes = 64 * megabyte;

/** The log of a job, to go on at its end. One writer at a time. */
export async function openOutput(
  jobDir: string,
  maxBytes = defaultMaxBytes,
): Promise<OutputWriter> {
  // As good as always there already, and whoever opens it has somebody waiting.
  ensureJobDir(jobDir);
  const file = join(jobDir, outputName);
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  const handle = await open(file, "a+", 0o600);
  try {
    const torn = size > 0 && (await endsInsideLine(handle, size));
    return new OutputWriter(handle, torn, { size, maxBytes });
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Lines go out in the order they came, at once: whatever arrives while a write is under way goes
 * out together with the next. A promise resolves when its line has left this process, so that it
 * outlives it; whoever awaits it is slowed to the speed of the disk.
 */
export class OutputWriter {
  readonly #handle: FileHandle;
  #torn: boolean;
  #lines: (string | Uint8Array)[] = [];
  #nextWrite: Promise<void> | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #closed: Promise<void> | undefined;
  #size: number;
  readonly #maxBytes: number;
  #dropped = 0;

  constructor(
    handle: FileHandle,
    torn: boolean,
    { size, maxBytes }: { size: number; maxBytes: number },
  ) {
    this.#handle = handle;
    this.#torn = torn;
    this.#size = size;
    this.#maxBytes = maxBytes;
  }

  /** How many messages were not kept because the log had reached its size. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Beyond the size of the log only results are kept; one line says where the rest would follow. */
  append(message: object, { isResult = false } = {}): Promise<void> {
    const line = JSON.stringify(message);
    const size = Buffer.byteLength(line) + newline.length;
    const limit = this.#maxBytes + (isResult ? resultReserveBytes : 0);
    if (this.#size + size <= limit) {
      this.#size += size;
      return this.appendRaw(line);
    }
    this.#dropped += 1;
    return this.#dropped === 1 ? this.appendRaw(this.#limitMarker()) : Promise.resolve();
  }

  #limitMarker(): string {
    const [type, subtype, reason] = ["system", "output_dropped", "log_full"];
    return JSON.stringify({ type, subtype, reason, max_bytes: this.#maxBytes });
  }

  /** A line that is JSON already, without its end. */
  async appendRaw(line: string | Uint8Array): Promise<void> {
    if (this.#closed) throw new Error("the output is closed");
    if (line.length === 0 || holdsNewline(line)) throw new Error("an output line must be one line");
    this.#lines.push(line);
    this.#nextWrite ??= this.#queueWrite();
    return this.#nextWrite;
  }

  /** Against a power cut, too. */
  async sync(): Promise<void> {
    await (this.#nextWrite ?? this.#lastWrite);
    await this.#handle.datasync();
  }

  close(): Promise<void> {
    this.#closed ??= this.#lastWrite.then(() => this.#handle.close());
    return this.#closed;
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
      if (this.#torn) await writeFully(this.#handle, newline);
      for (const piece of pieces(lines)) await writeFully(this.#handle, piece);
      this.#torn = false;
    } catch (error) {
      this.#torn = true;
      throw error;
    }
  }
}

const newline = Buffer.from("\n");
const pieceLength = 1024 * 1024;

/** Small lines are put together and huge ones cut, so that no second copy of a huge one is made. */
function* pieces(lines: readonly (string | Uint8Array)[]): Generator<Uint8Array> {
  let small: Uint8Array[] = [];
  let length = 0;
  for (const part of encoded(lines)) {
    small.push(part);
    length += part.length;
    if (length < pieceLength) continue;
    yield* part.length < pieceLength ? [Buffer.concat(small)] : small;
    small = [];
    length = 0;
  }
  if (length > 0) yield Buffer.concat(small);
}

function* encoded(lines: readonly (string | Uint8Array)[]): Generator<Uint8Array> {
  for (const line of lines) {
    if (typeof line === "string") yield* slices(line);
    else yield line;
    yield newline;
  }
}

function* slices(text: string): Generator<Uint8Array> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + pieceLength, text.length);
    // Half a surrogate pair alone would be turned into a replacement character.
    if (end < text.length && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end -= 1;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}

async function writeFully(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await handle.write(bytes, done, bytes.length - done)).bytesWritten;
  }
}

async function endsInsideLine(handle: FileHandle, size: number): Promise<boolean> {
  const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] !== newline[0];
}

function holdsNewline(line: string | Uint8Array): boolean {
  return typeof line === "string" ? line.includes("\n") : line.includes(10);
}
